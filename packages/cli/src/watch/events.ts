import type { Event as EventWire } from "@slipway/protocol/director/event";
import type { WatchedEvent } from "./model.ts";

/** `create vm vm-1 of web/6f1c…` */
export function eventOf(one: EventWire): WatchedEvent {
  const { action, object_type, object_name, instance, error } = one;
  const named = object_name !== undefined && object_name !== instance ? object_name : undefined;
  const subject = [named, instance === undefined ? undefined : named ? `of ${instance}` : instance];
  const what = [action, object_type, ...subject].filter((word) => (word ?? "") !== "").join(" ");
  const end = one.parent_id === undefined ? "" : " done";
  return {
    id: one.id,
    at: typeof one.timestamp === "number" ? one.timestamp * 1000 : undefined,
    text: error === undefined ? `${what}${end}` : `${what} failed: ${error}`,
    failed: error !== undefined,
    deployment: one.deployment ?? "",
    task: one.task ?? "",
  };
}

/** Locks come and go with every task, which is shown. */
export const isNews = ({ object_type }: EventWire): boolean => object_type !== "lock";
