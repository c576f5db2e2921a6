import * as v from "valibot";
import { text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";
import { scheduleText } from "./config-parts.ts";

/** Clients put host and user into a command line, so neither may look like an option or a part of one. */
const SSH_HOST = /^[A-Za-z0-9][A-Za-z0-9.:_-]*$/;
const SSH_USER = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

const days = v.pipe(v.number(), v.minValue(0));

/** `director`: how it works, as upstream's director job has it where there is a property for it. */
export const directorPart = v.strictObject({
  cpi_api_test_max_version: v.optional(doc(v.picklist([1, 2, 3]), "the highest CPI API version asked for")),
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
  enable_cpi_network_management: v.optional(
    doc(
      v.boolean(),
      "CPIs make networks that the cloud config has as `managed`, by create_network; default: such networks are refused",
    ),
  ),
  enable_short_lived_nats_bootstrap_credentials: v.optional(
    doc(
      v.boolean(),
      "new VMs on NATS get a certificate for a day, replaced at the first contact; default true. False where nobody starts an agent again that ends for another certificate",
    ),
  ),
  enable_snapshots: v.optional(
    doc(
      v.boolean(),
      "snapshots of disks are taken, by schedule, before instances are updated, and by `take-snapshot`; default: none is",
    ),
  ),
  snapshot_schedule: v.optional(
    doc(
      scheduleText("snapshot_schedule"),
      "when snapshots of all deployments are taken; minute, hour, day, month, day of week in UTC; default: `0 7 * * *`",
    ),
  ),
  keep_unreachable_vms: v.optional(
    doc(v.boolean(), "new VMs whose agent never answers stay, to be looked at; default: they are deleted"),
  ),
  generate_vm_passwords: v.optional(
    doc(
      v.boolean(),
      "users of new VMs have a password that nobody knows, unless `env.bosh.password` is given; default: their stemcell's",
    ),
  ),
  ignore_missing_gateway: v.optional(
    doc(
      v.boolean(),
      "subnets of manual networks need no `gateway`: VMs then have no way out; default: they do",
    ),
  ),
  allow_errands_on_stopped_instances: v.optional(
    doc(v.boolean(), "errands run on instances that were stopped, too; default: they are refused"),
  ),
  default_ssh_options: v.optional(
    v.strictObject({
      gateway_host: doc(
        v.pipe(v.string(), v.regex(SSH_HOST, "must be the name or the address of a host")),
        "through which `bosh ssh`, `scp` and `logs -f` go to VMs, unless they are told another way",
      ),
      gateway_user: v.optional(
        doc(v.pipe(v.string(), v.regex(SSH_USER, "must be the name of a user")), "there; default: vcap"),
      ),
    }),
  ),
  workers: v.optional(doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "tasks at once; default: 4")),
  keep_tasks: v.optional(
    doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "finished tasks kept per type; default: 2000"),
  ),
  tasks_retention_period: v.optional(
    doc(days, "age in days at which finished tasks are deleted; default: they are not for their age"),
  ),
  tasks_deployments_retention_period: v.optional(
    doc(
      v.array(v.strictObject({ deployment_name: text("deployment_name"), retention_period: days })),
      "the same for tasks of some deployments",
    ),
  ),
  task_output_mib: v.optional(
    doc(
      v.pipe(v.number(), v.minValue(1)),
      "most that is kept of each of a task's debug, cpi and conversation outputs: the beginning and the end; default: 32",
    ),
  ),
  all_task_outputs_mib: v.optional(
    doc(
      v.pipe(v.number(), v.minValue(1)),
      "most that is kept of the outputs of all tasks together: those of the oldest go; default: 4096",
    ),
  ),
  keep_events: v.optional(doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "events kept; default: 10000")),
  log_days: v.optional(
    doc(days, "age at which fetched logs are deleted; the newest hundred are kept at most; default: 10"),
  ),
  exported_release_days: v.optional(
    doc(days, "age at which exported releases are deleted; default: `clean-up` deletes them"),
  ),
  orphan_disk_days: v.optional(doc(days, "age at which orphaned disks are deleted; default: 5")),
  orphan_disk_schedule: v.optional(
    doc(
      scheduleText("orphan_disk_schedule"),
      "when that is looked at; `never`: only commands delete them; default: `0,30 * * * *`",
    ),
  ),
  orphaned_vm_schedule: v.optional(
    doc(
      scheduleText("orphaned_vm_schedule"),
      "when VMs are deleted that create-swap-delete has replaced; default: `*/5 * * * *`",
    ),
  ),
  orphan_network_days: v.optional(doc(days, "age at which orphaned networks are deleted; default: 1")),
  orphan_network_schedule: v.optional(
    doc(
      scheduleText("orphan_network_schedule"),
      "when that is looked at; `never`: only commands delete them; default: `0,30 * * * *`",
    ),
  ),
});
