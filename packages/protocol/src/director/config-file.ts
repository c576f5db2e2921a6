import * as v from "valibot";
import { jsonObject, text } from "../schema/json.ts";
import { doc, hidden, secret } from "../schema/marks.ts";

const user = v.strictObject({
  name: doc(text("name"), "for `bosh log-in` and BOSH_CLIENT"),
  password: secret(doc(text("password"), "never empty")),
  scopes: v.optional(doc(v.array(text("scope")), "default: `bosh.admin`")),
});

/** The Director's configuration file. Everything has a default; a key it does not know is a mistake. */
export const directorConfig = v.strictObject({
  name: v.optional(doc(text("name"), "shown by `bosh env`; default: slipway")),
  state_dir: v.optional(doc(text("state_dir"), "everything it keeps; default depends on the user")),
  listen: v.optional(
    v.strictObject({
      host: v.optional(doc(text("host"), "default: 127.0.0.1")),
      port: v.optional(
        doc(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)), "default: 25555"),
      ),
      names: v.optional(doc(v.array(text("name")), "further names and addresses for the certificate")),
    }),
  ),
  users: v.optional(doc(v.array(user), "default: `admin` with a generated password in the state directory")),
  cpi: v.optional(
    v.strictObject({
      exec_path: v.optional(
        doc(text("exec_path"), "the CPI executable; without one the in-process CPI is used"),
      ),
      config_file: v.optional(doc(text("config_file"), "given to it with --configFile")),
      properties: v.optional(doc(hidden(jsonObject()), "merged into the context of every call")),
      deadline_s: v.optional(
        doc(
          v.pipe(v.number(), v.minValue(1)),
          "longest time of one call; default: 3600, four times that for images and snapshots",
        ),
      ),
    }),
  ),
  agent: v.optional(
    v.strictObject({
      port: v.optional(doc(v.pipe(v.number(), v.integer()), "where agents listen; default: 6868")),
      wait_timeout_s: v.optional(doc(v.number(), "how long a new agent may take; default: 600")),
      env: v.optional(doc(hidden(jsonObject()), "`bosh` part of every VM's env: blobstores, ntp")),
    }),
  ),
  director: v.optional(
    v.strictObject({
      cpi_api_test_max_version: v.optional(
        doc(v.picklist([1, 2, 3]), "the highest CPI API version asked for"),
      ),
      max_vm_create_tries: v.optional(
        doc(
          v.pipe(v.number(), v.integer(), v.minValue(1)),
          "for a CPI that says it may work next time; default: 5",
        ),
      ),
      enable_cpi_resize_disk: v.optional(
        doc(v.boolean(), "disks grow by the CPI's resize_disk where it can; default: by copy"),
      ),
      enable_cpi_update_disk: v.optional(
        doc(v.boolean(), "disks change by the CPI's update_disk where it can; default: by copy"),
      ),
      keep_unreachable_vms: v.optional(
        doc(
          v.boolean(),
          "new VMs whose agent never answers stay, to be looked at; default: they are deleted",
        ),
      ),
      workers: v.optional(doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "tasks at once; default: 4")),
      keep_tasks: v.optional(
        doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "finished tasks kept per type; default: 2000"),
      ),
      orphan_disk_days: v.optional(doc(v.number(), "age at which orphaned disks are deleted; default: 5")),
    }),
  ),
  registry: v.optional(
    v.strictObject({
      host: v.optional(
        doc(text("host"), "where our registry listens when a mix needs it; default: 127.0.0.1"),
      ),
      port: v.optional(doc(v.pipe(v.number(), v.integer()), "default: 25777")),
    }),
  ),
  database: v.optional(
    v.strictObject({
      url: v.optional(doc(secret(text("url")), "a PostgreSQL server; default: the embedded one")),
    }),
  ),
});
export type DirectorConfig = v.InferOutput<typeof directorConfig>;
