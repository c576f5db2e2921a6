import type { Message } from "./message.ts";
import { addDynamicDisk } from "./messages/add_dynamic_disk.ts";
import { addPersistentDisk } from "./messages/add_persistent_disk.ts";
import { apply } from "./messages/apply.ts";
import { associateDisks } from "./messages/associate_disks.ts";
import { bundleLogs } from "./messages/bundle_logs.ts";
import { cancelTask } from "./messages/cancel_task.ts";
import { compilePackage } from "./messages/compile_package.ts";
import { compilePackageWithSignedUrl } from "./messages/compile_package_with_signed_url.ts";
import { deleteArpEntries } from "./messages/delete_arp_entries.ts";
import { drain } from "./messages/drain.ts";
import { fetchLogs } from "./messages/fetch_logs.ts";
import { fetchLogsWithSignedUrl } from "./messages/fetch_logs_with_signed_url.ts";
import { getState } from "./messages/get_state.ts";
import { getTask } from "./messages/get_task.ts";
import { info } from "./messages/info.ts";
import { listDisk } from "./messages/list_disk.ts";
import { migrateDisk } from "./messages/migrate_disk.ts";
import { mountDisk } from "./messages/mount_disk.ts";
import { ping } from "./messages/ping.ts";
import { prepare } from "./messages/prepare.ts";
import { readStoreFile } from "./messages/read_store_file.ts";
import { removeDynamicDisk } from "./messages/remove_dynamic_disk.ts";
import { removeFile } from "./messages/remove_file.ts";
import { removePersistentDisk } from "./messages/remove_persistent_disk.ts";
import { runErrand } from "./messages/run_errand.ts";
import { runScript } from "./messages/run_script.ts";
import { shutdown } from "./messages/shutdown.ts";
import { ssh } from "./messages/ssh.ts";
import { start } from "./messages/start.ts";
import { stop } from "./messages/stop.ts";
import { syncDns } from "./messages/sync_dns.ts";
import { syncDnsWithSignedUrl } from "./messages/sync_dns_with_signed_url.ts";
import { unmountDisk } from "./messages/unmount_disk.ts";
import { updatePersistentDisk } from "./messages/update_persistent_disk.ts";
import { updateSettings } from "./messages/update_settings.ts";
import { uploadBlob } from "./messages/upload_blob.ts";
import { writeStoreFile } from "./messages/write_store_file.ts";

/** Every message an agent may get. */
export const AGENT_MESSAGES = {
  ping: ping,
  info: info,
  get_task: getTask,
  cancel_task: cancelTask,
  get_state: getState,
  apply: apply,
  prepare: prepare,
  start: start,
  stop: stop,
  drain: drain,
  run_script: runScript,
  run_errand: runErrand,
  upload_blob: uploadBlob,
  fetch_logs: fetchLogs,
  fetch_logs_with_signed_url: fetchLogsWithSignedUrl,
  bundle_logs: bundleLogs,
  remove_file: removeFile,
  ssh: ssh,
  list_disk: listDisk,
  mount_disk: mountDisk,
  unmount_disk: unmountDisk,
  migrate_disk: migrateDisk,
  add_persistent_disk: addPersistentDisk,
  remove_persistent_disk: removePersistentDisk,
  update_persistent_disk: updatePersistentDisk,
  add_dynamic_disk: addDynamicDisk,
  remove_dynamic_disk: removeDynamicDisk,
  associate_disks: associateDisks,
  write_store_file: writeStoreFile,
  read_store_file: readStoreFile,
  update_settings: updateSettings,
  sync_dns: syncDns,
  sync_dns_with_signed_url: syncDnsWithSignedUrl,
  delete_arp_entries: deleteArpEntries,
  shutdown: shutdown,
  compile_package: compilePackage,
  compile_package_with_signed_url: compilePackageWithSignedUrl,
} as const;

export type AgentMessages = typeof AGENT_MESSAGES;
export type AgentMessageName = keyof AgentMessages;

export const messageNamed = (name: string): Message | undefined =>
  Object.hasOwn(AGENT_MESSAGES, name) ? AGENT_MESSAGES[name as AgentMessageName] : undefined;
