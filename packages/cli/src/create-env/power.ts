import { runSteps } from "@slipway/engine/flows/run-steps";
import type { InstanceGoal } from "@slipway/engine/model/goal";
import { activeVm } from "@slipway/engine/model/records";
import type { StepName } from "@slipway/engine/steps/steps";
import { EnvironmentMissing } from "./errors.ts";
import type { CloudProvider } from "./manifest/model.ts";
import { DEFAULT_WATCH, readEnvProvider } from "./manifest/read.ts";
import { printSteps } from "./print-steps.ts";
import { type EnvRequest, type EnvTools, settle, withSession, withStateLock } from "./session.ts";
import { EnvStore, INSTANCE } from "./state/store.ts";
import { workspaceOf } from "./workspace.ts";

/** Stops or starts the jobs of the VM through its agent; the VM runs on. */
export async function powerEnv(
  to: "stopped" | "started",
  request: EnvRequest,
  tools: EnvTools,
): Promise<void> {
  const { ui } = tools;
  const workspace = workspaceOf(request.manifestPath, request.statePath);
  ui.line(`Deployment state: '${workspace.stateFile}'`);
  ui.line("");
  await withStateLock(workspace, tools, async () => {
    const store = await EnvStore.open(workspace.stateFile, tools.random);
    const recorded = store?.instanceNow;
    if (store === undefined || recorded === undefined || activeVm(recorded) === undefined)
      throw EnvironmentMissing({ path: workspace.stateFile });
    const { manifestPath: path, document: value } = request;
    const manifest = readEnvProvider({ path, dir: workspace.manifestDir, value });
    // Only the agent is spoken to: whatever CPI there is, it is not called.
    const { cpi } = manifest.cloudProvider;
    const cloudProvider: CloudProvider = {
      ...manifest.cloudProvider,
      cpi: cpi.kind === "release" ? { kind: "exec", path: "/nonexistent", configFile: undefined } : cpi,
    };
    await withSession(workspace, store, { ...manifest, cloudProvider }, tools, async (session) => {
      await settle(session);
      const steps: readonly StepName[] = to === "stopped" ? ["stop"] : ["start"];
      const name = to === "stopped" ? "stopping deployment" : "starting deployment";
      const goal: InstanceGoal = {
        action: "stop",
        changes: [],
        desired: undefined,
        recorded,
        unresponsive: false,
        skipDrain: request.skipDrain,
        diskMayBeReplaced: false,
      };
      await session.stages.stage(name, (stages) =>
        printSteps(stages, session, (progress) =>
          runSteps(steps, { uuid: INSTANCE, goal, watchMs: DEFAULT_WATCH, progress }, session.context),
        ),
      );
    });
  });
}
