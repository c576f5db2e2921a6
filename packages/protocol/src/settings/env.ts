import * as v from "valibot";
import { json, jsonObject, open, openWith } from "../schema/json.ts";
import { doc, hidden, secret } from "../schema/marks.ts";

export const blobstore = open({
  provider: v.string(),
  options: v.optional(v.nullable(hidden(jsonObject()))),
});

const mbusCert = open({
  ca: v.optional(v.string()),
  certificate: v.optional(v.string()),
  private_key: v.optional(secret(v.string())),
  client_ca: v.optional(doc(v.string(), "ours: callers over HTTPS need a certificate of this authority")),
});

/** The message bus of an agent: where, and with which certificate. */
export const mbus = open({
  urls: v.optional(v.nullable(v.array(secret(v.string())))),
  cert: v.optional(v.nullable(mbusCert)),
});

/** The part of `env` that belongs to BOSH. Other keys are the manifest author's and pass through. */
const envBosh = openWith(
  {
    password: v.optional(doc(v.nullable(secret(v.string())), "crypt hash for the vcap user")),
    keep_root_password: v.optional(v.boolean()),
    authorized_keys: v.optional(v.nullable(v.array(v.string()))),
    remove_dev_tools: v.optional(v.boolean()),
    remove_static_libraries: v.optional(v.boolean()),
    swap_size: v.optional(doc(v.nullable(v.number()), "MB; 0 means no swap")),
    mbus: v.optional(v.nullable(mbus)),
    blobstores: v.optional(v.nullable(v.array(blobstore))),
    ntp: v.optional(v.nullable(v.array(v.string()))),
    ipv6: v.optional(v.nullable(open({ enable: v.optional(v.boolean()) }))),
    job_dir: v.optional(
      v.nullable(open({ tmpfs: v.optional(v.boolean()), tmpfs_size: v.optional(v.string()) })),
    ),
    run_dir: v.optional(v.nullable(open({ tmpfs_size: v.optional(v.string()) }))),
    agent: v.optional(
      doc(
        v.nullable(jsonObject()),
        "`settings.tmpfs` keeps the settings off the disk; `acts_as`: for tests, see docs",
      ),
    ),
    parallel: v.optional(doc(v.nullable(v.number()), "downloads at once")),
    group: v.optional(v.string()),
    groups: v.optional(v.nullable(v.array(v.string()))),
    tags: v.optional(v.nullable(jsonObject())),
  },
  hidden(json()),
);

export const env = openWith(
  {
    bosh: v.optional(v.nullable(envBosh)),
    persistent_disk_fs: v.optional(v.nullable(v.picklist(["", "ext4", "xfs"]))),
    persistent_disk_mount_options: v.optional(v.nullable(v.array(v.string()))),
    persistent_disk_partitioner: v.optional(v.nullable(v.string())),
  },
  hidden(json()),
);
export type Env = v.InferOutput<typeof env>;
