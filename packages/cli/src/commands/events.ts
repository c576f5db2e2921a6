import { type Event, event } from "@slipway/protocol/director/event";
import * as v from "valibot";
import type { Command } from "../command.ts";
import { taskNumber } from "../parse/task-number.ts";
import { dateText } from "../ui/time-text.ts";

export const events: Command = {
  name: "events",
  summary: "list events: what was done and by whom, the newest first",
  topic: "inspect",
  options: [
    { flags: "--before-id <id>", about: "older than this one" },
    { flags: "--before <time>", about: "before a time: 2026-01-31 12:00:00 UTC" },
    { flags: "--after <time>", about: "after a time" },
    { flags: "--task <id>", about: "of a task", completes: "task" },
    { flags: "--instance <slug>", about: "of an instance" },
    { flags: "--event-user <name>", about: "of a user" },
    { flags: "--action <action>", about: "create, update, delete..." },
    { flags: "--object-type <type>", about: "deployment, instance, vm, disk..." },
    { flags: "--object-name <name>", about: "of one thing" },
  ],
  examples: [["slipway events --task 12", ""]],
  async run(given, { ui, director, deployment }) {
    const task = given.text("task");
    if (task !== undefined) taskNumber(task);
    const api = await director();
    const query = {
      before_id: given.text("before-id"),
      before_time: given.text("before"),
      after_time: given.text("after"),
      deployment,
      task,
      instance: given.text("instance"),
      user: given.text("event-user"),
      action: given.text("action"),
      object_type: given.text("object-type"),
      object_name: given.text("object-name"),
    };
    const found = await api.json({ method: "GET", path: "/events", query }, v.array(event));
    const { yamlText } = await import("../ui/yaml-text.ts");
    const row = (one: Event) => [
      one.parent_id ? `${one.id} <- ${one.parent_id}` : one.id,
      one.timestamp ? dateText(one.timestamp) : "",
      one.user ?? "",
      one.action ?? "",
      one.object_type ?? "",
      one.object_name ?? "",
      one.task ?? "",
      one.deployment ?? "",
      one.instance ?? "",
      yamlText(one.context),
      one.error ? ui.paint.red(one.error) : "",
    ];
    ui.table({
      content: "events",
      header: {
        id: "ID",
        time: "Time",
        user: "User",
        action: "Action",
        object_type: "Object Type",
        object_name: "Object Name",
        task_id: "Task ID",
        deployment: "Deployment",
        instance: "Instance",
        context: "Context",
        error: "Error",
      },
      rows: found.map(row),
    });
    return 0;
  },
};
