import type { Command } from "./command.ts";
import { aliasEnv } from "./commands/alias-env.ts";
import { attachDisk } from "./commands/attach-disk.ts";
import { cancelTask } from "./commands/cancel-task.ts";
import { cloudCheck } from "./commands/cloud-check.ts";
import { cloudConfig } from "./commands/cloud-config.ts";
import { completion } from "./commands/completion.ts";
import { config } from "./commands/config.ts";
import { configs } from "./commands/configs.ts";
import { createEnv } from "./commands/create-env.ts";
import { deleteConfig } from "./commands/delete-config.ts";
import { deleteDeployment } from "./commands/delete-deployment.ts";
import { deleteDisk } from "./commands/delete-disk.ts";
import { deleteEnv } from "./commands/delete-env.ts";
import { deleteStemcell } from "./commands/delete-stemcell.ts";
import { demo } from "./commands/demo.ts";
import { deploy } from "./commands/deploy.ts";
import { deployment } from "./commands/deployment.ts";
import { deployments } from "./commands/deployments.ts";
import { diffConfig } from "./commands/diff-config.ts";
import { disks } from "./commands/disks.ts";
import { down } from "./commands/down.ts";
import { env } from "./commands/env.ts";
import { environments } from "./commands/environments.ts";
import { event } from "./commands/event.ts";
import { events } from "./commands/events.ts";
import { explain } from "./commands/explain.ts";
import { ignore } from "./commands/ignore.ts";
import { instances } from "./commands/instances.ts";
import { interpolate } from "./commands/interpolate.ts";
import { locks } from "./commands/locks.ts";
import { logIn } from "./commands/log-in.ts";
import { logOut } from "./commands/log-out.ts";
import { manifest } from "./commands/manifest.ts";
import { matrix } from "./commands/matrix.ts";
import { orphanDisk } from "./commands/orphan-disk.ts";
import { recreate } from "./commands/recreate.ts";
import { restart } from "./commands/restart.ts";
import { start } from "./commands/start.ts";
import { startEnv } from "./commands/start-env.ts";
import { status } from "./commands/status.ts";
import { stemcellBuild } from "./commands/stemcell-build.ts";
import { stemcellInspect } from "./commands/stemcell-inspect.ts";
import { stemcellRepack } from "./commands/stemcell-repack.ts";
import { stemcells } from "./commands/stemcells.ts";
import { stop } from "./commands/stop.ts";
import { stopEnv } from "./commands/stop-env.ts";
import { strays } from "./commands/strays.ts";
import { task } from "./commands/task.ts";
import { tasks } from "./commands/tasks.ts";
import { unignore } from "./commands/unignore.ts";
import { up } from "./commands/up.ts";
import { updateCloudConfig } from "./commands/update-cloud-config.ts";
import { updateConfig } from "./commands/update-config.ts";
import { updateCpiConfig } from "./commands/update-cpi-config.ts";
import { updateRuntimeConfig } from "./commands/update-runtime-config.ts";
import { uploadStemcell } from "./commands/upload-stemcell.ts";
import { vms } from "./commands/vms.ts";

/** Every command. Help and shell completion are made from this table. */
export const COMMANDS: readonly Command[] = [
  demo,
  up,
  status,
  down,
  createEnv,
  stopEnv,
  startEnv,
  deleteEnv,
  deploy,
  deployments,
  deployment,
  manifest,
  instances,
  vms,
  start,
  stop,
  restart,
  recreate,
  ignore,
  unignore,
  cloudCheck,
  deleteDeployment,
  configs,
  config,
  updateConfig,
  diffConfig,
  deleteConfig,
  cloudConfig,
  updateCloudConfig,
  updateRuntimeConfig,
  updateCpiConfig,
  stemcells,
  uploadStemcell,
  deleteStemcell,
  stemcellBuild,
  stemcellInspect,
  stemcellRepack,
  disks,
  attachDisk,
  orphanDisk,
  deleteDisk,
  env,
  environments,
  aliasEnv,
  logIn,
  logOut,
  tasks,
  task,
  cancelTask,
  events,
  event,
  locks,
  strays,
  explain,
  matrix,
  interpolate,
  completion(() => COMMANDS),
];
