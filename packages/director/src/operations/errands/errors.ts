import { defineError } from "@slipway/kernel/errors";

export const NoSuchErrand = defineError<{ name: string }>({
  code: "DIO-072",
  kind: "operator",
  number: 70009,
  status: 404,
  message: (p) => `Errand '${p.name}' doesn't exist`,
  next: "`bosh errands` lists them.",
});

export const NotAnErrand = defineError<{ group: string }>({
  code: "DIO-073",
  kind: "operator",
  number: 510000,
  message: (p) =>
    `Instance group '${p.group}' is not an errand. To mark an instance group as an errand set its lifecycle to 'errand' in the deployment manifest.`,
  next: "`bosh errands` lists what can be run.",
});

export const ErrandOnStopped = defineError<{ instances: readonly string[]; deployment: string }>({
  code: "DIO-075",
  kind: "operator",
  number: 510000,
  message: (p) =>
    `Instance(s) ${p.instances.map((one) => `'${one}'`).join(",")} is stopped, unable to run errand. Maybe start vm?`,
  next: "`bosh -d {deployment} start` starts them, --instance runs it on others; with director.allow_errands_on_stopped_instances in the Director's configuration it runs on these.",
});

export const ErrandFilterUnusable = defineError<{ why: string }>({
  code: "DIO-074",
  kind: "operator",
  number: 510000,
  message: (p) => p.why,
  next: "`bosh instances` lists instances; leave --instance out to run it on all of them.",
});

export const IsolatedErrand = defineError<{ action: string; instance: string; deployment: string }>({
  code: "DIO-110",
  kind: "operator",
  number: 90000,
  message: (p) =>
    `Isolated ${p.action} can not be run on instances of type errand. Try the bosh run-errand command. (instance '${p.instance}' of deployment '${p.deployment}')`,
  next: "`bosh -d {deployment} errands` lists what can be run.",
});
