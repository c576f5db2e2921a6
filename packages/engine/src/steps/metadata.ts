import type { JsonObject } from "@slipway/protocol/schema/json";
import type { FlowContext } from "./context.ts";
import type { StepSubject } from "./step.ts";

const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Tags, and the keys upstream always sets; those win. */
export function vmMetadata({ goal, instance }: StepSubject, context: FlowContext): JsonObject {
  return {
    ...goal.desired?.tags,
    director: context.settings.directorName,
    deployment: context.deployment,
    id: instance.uuid,
    job: instance.group,
    instance_group: instance.group,
    index: String(instance.index),
    name: `${instance.group}/${instance.uuid}`,
    created_at: seconds(context.clock.now()),
  };
}

export function diskMetadata({ goal, instance }: StepSubject, context: FlowContext): JsonObject {
  return {
    ...goal.desired?.tags,
    director: context.settings.directorName,
    deployment: context.deployment,
    instance_id: instance.uuid,
    instance_index: String(instance.index),
    instance_group: instance.group,
    attached_at: seconds(context.clock.now()),
  };
}
