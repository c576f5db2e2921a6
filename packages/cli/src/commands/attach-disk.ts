import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { instanceSlug } from "../states/slug.ts";

export const attachDisk: Command = {
  name: "attach-disk",
  summary: "make a disk the persistent disk of a stopped instance",
  topic: "configuration",
  arguments: [
    { name: "<instance>", about: "group/id or group/index", completes: "instance" },
    { name: "<cid>", about: "id of the disk in its cloud" },
  ],
  options: [{ flags: "--disk-properties <how>", about: "`copy`: those of the disk that is attached now" }],
  examples: [["slipway -d shop attach-disk db/0 disk-d73ca250", "an orphan with its data; then recreate"]],
  async run(given, { director, mustDeployment }) {
    const api = await director();
    const deployment = mustDeployment();
    const { group, id } = instanceSlug(given.argument(0) ?? "");
    await runTask(api, {
      method: "PUT",
      path: `/disks/${pathSegment(given.argument(1) ?? "")}/attachments`,
      query: { deployment, job: group, instance_id: id, disk_properties: given.text("disk-properties") },
    });
    return 0;
  },
};
