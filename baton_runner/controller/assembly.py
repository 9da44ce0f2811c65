"""One change's tools, made from the project's: the only place that knows who needs whom."""

from pathlib import Path

from baton_runner.agents.environment import BASE_NAMES, selected
from baton_runner.agents.registry import agent_for
from baton_runner.base.errors import BatonError
from baton_runner.controller.baseline import Baseline
from baton_runner.controller.branch import Branch
from baton_runner.controller.claims import Claims, Resources
from baton_runner.controller.integration import Integrator
from baton_runner.controller.parts import Parts
from baton_runner.controller.pauses import Pauses
from baton_runner.controller.preparation import Preparation
from baton_runner.controller.project import Project
from baton_runner.controller.publishing import Publisher
from baton_runner.controller.verification import Verifier
from baton_runner.evidence.layout import Layout
from baton_runner.plan.changes import Change
from baton_runner.repo.objects import Signing
from baton_runner.store.ledger import Ledger
from baton_runner.workflow.build_settings import BaseCheck

__all__ = ["assemble"]


def assemble(project: Project, change: Change, *, workers: int) -> Parts:
    """Put the tools of a change together; nothing is read or written."""
    settings, repository = project.policy.settings, project.repository
    layout = Layout(project.baton, change.id)
    branch = Branch(repository, project.objects, project.refs, change.id, settings.integration.branch)
    publisher = Publisher(layout, project.objects, project.refs, branch)
    claims = Claims(repository.locks, change.id, f"{repository.hash8}/{layout.slug}")
    preparation = Preparation(
        settings.workspace, project.checkout, project.environ, project.cancel, claims.marker("@setup")
    )
    verifier = Verifier(
        change=change.id,
        workspaces=project.workspaces,
        preparation=preparation,
        cache=project.cache,
        environ=selected(project.environ, BASE_NAMES),
        policy_environ=settings.verify.env,
        marker=claims.marker("@verify"),
        cancel=project.cancel,
        clock=project.clock,
        pristine=settings.verify.pristine,
        redact=project.redact,
    )
    baseline = Baseline(
        record=layout.baseline(),
        logs=layout.change_logs("base"),
        objects=project.objects,
        branch=branch,
        verifier=verifier,
        stops=settings.verify.base is BaseCheck.REQUIRE,
        warn=lambda message: project.events.emit(change.id, "", "base.red", message=message),
    )
    integrator = Integrator(
        lock=repository.locks / "integration" / f"{layout.slug}.lock",
        objects=project.objects,
        branch=branch,
        publisher=publisher,
        verifier=verifier,
        baseline=baseline,
        resources=Resources(repository.locks),
        needs=settings.verify.resources,
        signing=Signing.USER if settings.integration.sign else Signing.NONE,
        cancel=project.cancel,
    )
    return Parts(
        change=change,
        plan_path=_relative(change.plan_path, project.top),
        top=project.top,
        checkout=project.checkout,
        repository=repository,
        policy=project.policy,
        layout=layout,
        objects=project.objects,
        refs=project.refs,
        branch=branch,
        workspaces=project.workspaces,
        preparation=preparation,
        verifier=verifier,
        baseline=baseline,
        integrator=integrator,
        publisher=publisher,
        claims=claims,
        hooks=project.hooks,
        pauses=Pauses(project.baton / "pauses", project.clock),
        ledger=Ledger(project.database, project.run, project.ceilings, workers=workers),
        journal=project.journal,
        events=project.events,
        clock=project.clock,
        cancel=project.cancel,
        redact=project.redact,
        environ=project.environ,
        agent_for=lambda kind: agent_for(kind, settings),
    )


def _relative(path: Path, top: Path) -> str:
    try:
        return path.relative_to(top).as_posix()
    except ValueError as error:
        raise BatonError("lies outside the repository", where=str(path)) from error
