import { rm } from "node:fs/promises";
import { runInstance } from "@slipway/engine/flows/run-instance";
import { planDeletion } from "@slipway/engine/plan/deletion";
import { surroundingsOf } from "./archive.ts";
import { deleteUnusedDisks, deleteUnusedStemcells } from "./dispose.ts";
import { openReleases } from "./jobs/releases.ts";
import { withCpi } from "./jobs/with-cpi.ts";
import { readEnvProvider } from "./manifest/read.ts";
import { printSteps } from "./print-steps.ts";
import { printStrays } from "./print-strays.ts";
import {
  askOldAgent,
  type EnvRequest,
  type EnvSession,
  type EnvTools,
  prepareTemporary,
  settle,
  withSession,
  withStateLock,
} from "./session.ts";
import { type Stages, stagesOn } from "./stages.ts";
import { EnvStore, INSTANCE } from "./state/store.ts";
import { settleStemcells } from "./stemcell.ts";
import { workspaceOf } from "./workspace.ts";

/** Deletes VM, disks and stemcells, and last what is known of them. Run again, it goes on where it stopped. */
export async function deleteEnv(request: EnvRequest, tools: EnvTools): Promise<void> {
  const { ui, clock, random } = tools;
  const workspace = workspaceOf(request.manifestPath, request.statePath);
  ui.line(`Deployment state: '${workspace.stateFile}'`);
  ui.line("");
  await withStateLock(workspace, tools, async () => {
    const store = await EnvStore.open(workspace.stateFile, random);
    if (store === undefined) {
      ui.line("No deployment state file found.");
      ui.line("");
      return;
    }
    const stages = stagesOn(ui, clock);
    const { manifestPath: path, document: value } = request;
    const { manifest, releases } = await stages.stage("validating", async (inner) => {
      const manifest = await inner.step("Validating deployment manifest", async () =>
        readEnvProvider({ path, dir: workspace.manifestDir, value }),
      );
      await prepareTemporary(workspace);
      const around = surroundingsOf(workspace, tools);
      return { manifest, releases: await openReleases(manifest.releases, around, inner) };
    });
    await withCpi({ ...manifest, releases }, workspace, tools, (cloudProvider) =>
      withSession(workspace, store, { ...manifest, cloudProvider }, tools, (session) =>
        remove(request, session),
      ),
    );
    printStrays(store, ui);
    await stages.step("Uninstalling local artifacts for CPI and deployment", async () => {
      await rm(workspace.dir, { recursive: true, force: true });
      await store.remove();
    });
    ui.line("");
  });
}

async function remove(request: EnvRequest, session: EnvSession): Promise<void> {
  const { stages, registry, store, context } = session;
  await settle(session);
  await settleStemcells(store, context, stages);
  await stages.stage("deleting deployment", async (inner) => {
    await removeInstance(request, session, inner);
    await deleteUnusedDisks(session, inner, "Deleting disk");
    await deleteUnusedStemcells(session, inner, "Deleting stemcell");
  });
  if (registry.running) await stages.step("Stopping registry", () => registry.end());
}

async function removeInstance({ skipDrain }: EnvRequest, session: EnvSession, stages: Stages): Promise<void> {
  const { store, context } = session;
  const agent = await askOldAgent(session, stages);
  const recorded = store.instanceNow;
  if (recorded === undefined) return;
  const plan = planDeletion(recorded, {
    agent,
    orphanVm: false,
    skipDrain,
    why: "the environment is deleted",
  });
  await printSteps(stages, session, (progress) =>
    runInstance({ uuid: INSTANCE, plan, watchMs: [0, 0], progress }, context),
  );
}
