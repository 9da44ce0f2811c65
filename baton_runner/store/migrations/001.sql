CREATE TABLE IF NOT EXISTS attempts (
    change     TEXT NOT NULL,
    key        TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    run        TEXT NOT NULL,
    agent      TEXT NOT NULL,
    session    TEXT,
    state      TEXT NOT NULL,
    message    TEXT NOT NULL DEFAULT '',
    turns      INTEGER NOT NULL DEFAULT 0,
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd   REAL,
    started    TEXT NOT NULL,
    ended      TEXT,
    PRIMARY KEY (change, key, attempt)
);
CREATE TABLE IF NOT EXISTS events (
    number  INTEGER PRIMARY KEY,
    at      TEXT NOT NULL,
    run     TEXT NOT NULL,
    change  TEXT NOT NULL,
    key     TEXT NOT NULL,
    kind    TEXT NOT NULL,
    data    TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_of_task ON events (change, key, number);
CREATE TABLE IF NOT EXISTS spend (
    number    INTEGER PRIMARY KEY,
    run       TEXT NOT NULL,
    change    TEXT NOT NULL,
    key       TEXT NOT NULL,
    reserved_usd    REAL NOT NULL DEFAULT 0,
    reserved_tokens INTEGER NOT NULL DEFAULT 0,
    spent_usd       REAL NOT NULL DEFAULT 0,
    spent_tokens    INTEGER NOT NULL DEFAULT 0,
    settled   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS spend_of_run ON spend (run);
CREATE INDEX IF NOT EXISTS spend_of_task ON spend (change, key);
