import type { Command } from "./command.ts";
import { addBlob } from "./commands/add-blob.ts";
import { aliasEnv } from "./commands/alias-env.ts";
import { attachDisk } from "./commands/attach-disk.ts";
import { backup } from "./commands/backup.ts";
import { blobs } from "./commands/blobs.ts";
import { cancelTask } from "./commands/cancel-task.ts";
import { cancelTasks } from "./commands/cancel-tasks.ts";
import { certify, certifyClean, certifyInit } from "./commands/certify.ts";
import { certifyAgent } from "./commands/certify-agent.ts";
import { certifyVerify } from "./commands/certify-verify.ts";
import { cleanUp } from "./commands/clean-up.ts";
import { cloudCheck } from "./commands/cloud-check.ts";
import { cloudConfig } from "./commands/cloud-config.ts";
import { completion } from "./commands/completion.ts";
import { config } from "./commands/config.ts";
import { configCheck } from "./commands/config-check.ts";
import { configs } from "./commands/configs.ts";
import { consoleLink } from "./commands/console.ts";
import { cpiConfig } from "./commands/cpi-config.ts";
import { cpiInit } from "./commands/cpi-init.ts";
import { createEnv } from "./commands/create-env.ts";
import { createRecoveryPlan } from "./commands/create-recovery-plan.ts";
import { createRelease } from "./commands/create-release.ts";
import { curl } from "./commands/curl.ts";
import { deleteConfig } from "./commands/delete-config.ts";
import { deleteDeployment } from "./commands/delete-deployment.ts";
import { deleteDisk } from "./commands/delete-disk.ts";
import { deleteEnv } from "./commands/delete-env.ts";
import { deleteNetwork } from "./commands/delete-network.ts";
import { deleteRelease } from "./commands/delete-release.ts";
import { deleteSnapshot } from "./commands/delete-snapshot.ts";
import { deleteSnapshots } from "./commands/delete-snapshots.ts";
import { deleteStemcell } from "./commands/delete-stemcell.ts";
import { deleteVm } from "./commands/delete-vm.ts";
import { demo } from "./commands/demo.ts";
import { deploy } from "./commands/deploy.ts";
import { deployment } from "./commands/deployment.ts";
import { deployments } from "./commands/deployments.ts";
import { diffConfig } from "./commands/diff-config.ts";
import { disks } from "./commands/disks.ts";
import { down } from "./commands/down.ts";
import { env } from "./commands/env.ts";
import { environments } from "./commands/environments.ts";
import { errands } from "./commands/errands.ts";
import { event } from "./commands/event.ts";
import { events } from "./commands/events.ts";
import { explain } from "./commands/explain.ts";
import { exportRelease } from "./commands/export-release.ts";
import { finalizeRelease } from "./commands/finalize-release.ts";
import { generateJob } from "./commands/generate-job.ts";
import { generatePackage } from "./commands/generate-package.ts";
import { health } from "./commands/health.ts";
import { ignore } from "./commands/ignore.ts";
import { initRelease } from "./commands/init-release.ts";
import { inspectLocalRelease } from "./commands/inspect-local-release.ts";
import { inspectRelease } from "./commands/inspect-release.ts";
import { instances } from "./commands/instances.ts";
import { interpolate } from "./commands/interpolate.ts";
import { locks } from "./commands/locks.ts";
import { logIn } from "./commands/log-in.ts";
import { logOut } from "./commands/log-out.ts";
import { logs } from "./commands/logs.ts";
import { manifest } from "./commands/manifest.ts";
import { matrix } from "./commands/matrix.ts";
import { networks } from "./commands/networks.ts";
import { orphanDisk } from "./commands/orphan-disk.ts";
import { orphanedVms } from "./commands/orphaned-vms.ts";
import { pcap } from "./commands/pcap.ts";
import { recover } from "./commands/recover.ts";
import { recreate } from "./commands/recreate.ts";
import { sha1ifyRelease, sha2ifyRelease } from "./commands/redigest-release.ts";
import { releases } from "./commands/releases.ts";
import { removeBlob } from "./commands/remove-blob.ts";
import { resetRelease } from "./commands/reset-release.ts";
import { restart } from "./commands/restart.ts";
import { restore } from "./commands/restore.ts";
import { rotateNatsCa } from "./commands/rotate-nats-ca.ts";
import { runErrand } from "./commands/run-errand.ts";
import { runtimeConfig } from "./commands/runtime-config.ts";
import { scp } from "./commands/scp.ts";
import { serviceInstall } from "./commands/service-install.ts";
import { serviceStatus } from "./commands/service-status.ts";
import { serviceUninstall } from "./commands/service-uninstall.ts";
import { snapshots } from "./commands/snapshots.ts";
import { ssh } from "./commands/ssh.ts";
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
import { syncBlobs } from "./commands/sync-blobs.ts";
import { takeSnapshot } from "./commands/take-snapshot.ts";
import { task } from "./commands/task.ts";
import { tasks } from "./commands/tasks.ts";
import { unaliasEnv } from "./commands/unalias-env.ts";
import { unignore } from "./commands/unignore.ts";
import { up } from "./commands/up.ts";
import { updateCloudConfig } from "./commands/update-cloud-config.ts";
import { updateConfig } from "./commands/update-config.ts";
import { updateCpiConfig } from "./commands/update-cpi-config.ts";
import { updateResurrection } from "./commands/update-resurrection.ts";
import { updateRuntimeConfig } from "./commands/update-runtime-config.ts";
import { uploadBlobs } from "./commands/upload-blobs.ts";
import { uploadRelease } from "./commands/upload-release.ts";
import { uploadStemcell } from "./commands/upload-stemcell.ts";
import { variableGet, variableRegenerate, variableSet } from "./commands/variable.ts";
import { variables } from "./commands/variables.ts";
import { vendorPackage } from "./commands/vendor-package.ts";
import { vms } from "./commands/vms.ts";
import { watch } from "./commands/watch.ts";

/** Every command. Help and shell completion are made from this table. */
export const COMMANDS: readonly Command[] = [
  demo,
  up,
  status,
  down,
  serviceInstall,
  serviceUninstall,
  serviceStatus,
  backup,
  restore,
  createEnv,
  stopEnv,
  startEnv,
  deleteEnv,
  deploy,
  deployments,
  deployment,
  manifest,
  variables,
  variableGet,
  variableSet,
  variableRegenerate,
  instances,
  vms,
  watch,
  logs,
  ssh,
  scp,
  pcap,
  errands,
  runErrand,
  start,
  stop,
  restart,
  recreate,
  ignore,
  unignore,
  snapshots,
  takeSnapshot,
  deleteSnapshot,
  deleteSnapshots,
  cloudCheck,
  createRecoveryPlan,
  recover,
  updateResurrection,
  deleteDeployment,
  configs,
  config,
  updateConfig,
  diffConfig,
  deleteConfig,
  cloudConfig,
  updateCloudConfig,
  runtimeConfig,
  updateRuntimeConfig,
  cpiConfig,
  updateCpiConfig,
  stemcells,
  uploadStemcell,
  deleteStemcell,
  stemcellBuild,
  stemcellInspect,
  stemcellRepack,
  releases,
  uploadRelease,
  inspectRelease,
  exportRelease,
  deleteRelease,
  cleanUp,
  rotateNatsCa,
  disks,
  attachDisk,
  orphanDisk,
  deleteDisk,
  deleteNetwork,
  deleteVm,
  initRelease,
  generateJob,
  generatePackage,
  addBlob,
  removeBlob,
  blobs,
  uploadBlobs,
  syncBlobs,
  vendorPackage,
  createRelease,
  finalizeRelease,
  inspectLocalRelease,
  sha1ifyRelease,
  sha2ifyRelease,
  resetRelease,
  env,
  environments,
  consoleLink,
  aliasEnv,
  unaliasEnv,
  logIn,
  logOut,
  tasks,
  task,
  cancelTask,
  cancelTasks,
  events,
  event,
  health,
  locks,
  orphanedVms,
  networks,
  strays,
  explain,
  curl,
  matrix,
  interpolate,
  cpiInit,
  // Before its own subcommands: the first of them would make a group of the name.
  certify,
  certifyInit,
  certifyClean,
  certifyVerify,
  certifyAgent,
  configCheck,
  completion(() => COMMANDS),
];
