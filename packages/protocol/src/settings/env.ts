import * as v from "valibot";
import { json, jsonObject, open, openWith } from "../schema/json.ts";
import { doc, hidden, secret } from "../schema/marks.ts";

export const blobstore = open({
  provider: v.string(),
  options: v.nullish(hidden(jsonObject())),
});

const mbusCert = open({
  ca: v.nullish(v.string()),
  certificate: v.nullish(v.string()),
  private_key: v.nullish(secret(v.string())),
  client_ca: v.nullish(doc(v.string(), "ours: callers over HTTPS need a certificate of this authority")),
});

/** The message bus of an agent: where, and with which certificate. */
export const mbus = open({
  urls: v.nullish(v.array(secret(v.string()))),
  cert: v.nullish(mbusCert),
});

/** The part of `env` that belongs to BOSH. Other keys are the manifest author's and pass through. */
const envBosh = openWith(
  {
    password: v.nullish(doc(secret(v.string()), "crypt hash for the vcap user")),
    keep_root_password: v.nullish(v.boolean()),
    authorized_keys: v.nullish(v.array(v.string())),
    remove_dev_tools: v.nullish(v.boolean()),
    remove_static_libraries: v.nullish(v.boolean()),
    swap_size: v.nullish(doc(v.number(), "MB; 0 means no swap")),
    mbus: v.nullish(mbus),
    blobstores: v.nullish(v.array(blobstore)),
    ntp: v.nullish(v.array(v.string())),
    ipv6: v.nullish(open({ enable: v.nullish(v.boolean()) })),
    job_dir: v.nullish(open({ tmpfs: v.nullish(v.boolean()), tmpfs_size: v.nullish(v.string()) })),
    run_dir: v.nullish(open({ tmpfs_size: v.nullish(v.string()) })),
    agent: v.nullish(
      doc(jsonObject(), "`settings.tmpfs` keeps the settings off the disk; `acts_as`: for tests, see docs"),
    ),
    parallel: v.nullish(doc(v.number(), "downloads at once")),
    group: v.nullish(v.string()),
    groups: v.nullish(v.array(v.string())),
    tags: v.nullish(jsonObject()),
  },
  hidden(json()),
);

export const env = openWith(
  {
    bosh: v.nullish(envBosh),
    persistent_disk_fs: v.nullish(v.picklist(["", "ext4", "xfs"])),
    persistent_disk_mount_options: v.nullish(v.array(v.string())),
    persistent_disk_partitioner: v.nullish(v.string()),
  },
  hidden(json()),
);
export type Env = v.InferOutput<typeof env>;
