import type { ActionTable } from "./action.ts";
import { addDynamicDisk } from "./add_dynamic_disk.ts";
import { addPersistentDisk } from "./add_persistent_disk.ts";
import { apply } from "./apply.ts";
import { associateDisks } from "./associate_disks.ts";
import { bundleLogs } from "./bundle_logs.ts";
import { compilePackage } from "./compile_package.ts";
import { compilePackageWithSignedUrl } from "./compile_package_with_signed_url.ts";
import { deleteArpEntries } from "./delete_arp_entries.ts";
import { drain } from "./drain.ts";
import { fetchLogs } from "./fetch_logs.ts";
import { fetchLogsWithSignedUrl } from "./fetch_logs_with_signed_url.ts";
import { getState } from "./get_state.ts";
import { info } from "./info.ts";
import { listDisk } from "./list_disk.ts";
import { migrateDisk } from "./migrate_disk.ts";
import { mountDisk } from "./mount_disk.ts";
import { ping } from "./ping.ts";
import { prepare } from "./prepare.ts";
import { readStoreFile } from "./read_store_file.ts";
import { removeDynamicDisk } from "./remove_dynamic_disk.ts";
import { removeFile } from "./remove_file.ts";
import { removePersistentDisk } from "./remove_persistent_disk.ts";
import { runErrand } from "./run_errand.ts";
import { runScript } from "./run_script.ts";
import { shutdown } from "./shutdown.ts";
import { ssh } from "./ssh.ts";
import { start } from "./start.ts";
import { stop } from "./stop.ts";
import { syncDns } from "./sync_dns.ts";
import { syncDnsWithSignedUrl } from "./sync_dns_with_signed_url.ts";
import { unmountDisk } from "./unmount_disk.ts";
import { updateSettings } from "./update_settings.ts";
import { uploadBlob } from "./upload_blob.ts";
import { writeStoreFile } from "./write_store_file.ts";

/** Actions that this agent has. Any other message gets upstream's "unknown message", which callers can handle. */
export const ACTIONS: ActionTable = {
  add_dynamic_disk: addDynamicDisk,
  add_persistent_disk: addPersistentDisk,
  apply: apply,
  associate_disks: associateDisks,
  bundle_logs: bundleLogs,
  compile_package: compilePackage,
  compile_package_with_signed_url: compilePackageWithSignedUrl,
  delete_arp_entries: deleteArpEntries,
  drain: drain,
  fetch_logs: fetchLogs,
  fetch_logs_with_signed_url: fetchLogsWithSignedUrl,
  get_state: getState,
  info: info,
  list_disk: listDisk,
  migrate_disk: migrateDisk,
  mount_disk: mountDisk,
  ping: ping,
  prepare: prepare,
  read_store_file: readStoreFile,
  remove_dynamic_disk: removeDynamicDisk,
  remove_file: removeFile,
  remove_persistent_disk: removePersistentDisk,
  run_errand: runErrand,
  run_script: runScript,
  shutdown: shutdown,
  ssh: ssh,
  start: start,
  stop: stop,
  sync_dns: syncDns,
  sync_dns_with_signed_url: syncDnsWithSignedUrl,
  unmount_disk: unmountDisk,
  update_settings: updateSettings,
  upload_blob: uploadBlob,
  write_store_file: writeStoreFile,
  // A draft's name for the same.
  update_persistent_disk: addPersistentDisk,
};
