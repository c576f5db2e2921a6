import { join } from "node:path";
import { type AgentEndpoint, ENV_VM, withAgentAt } from "../create-env/agents/at-endpoint.ts";
import type { Tools } from "../tools.ts";
import type { LogsRequest } from "./fetch.ts";
import { saveArchive, stamp } from "./save-blob.ts";

/** Fetches logs of the VM of create-env from its agent. Names the archive as upstream's CLI does; leaves no file on the VM. */
export async function fetchLogsFromAgent(
  { types, filters, dir }: Pick<LogsRequest, "types" | "filters" | "dir">,
  endpoint: AgentEndpoint,
  tools: Pick<Tools, "clock" | "random" | "ui" | "stop" | "proxy">,
): Promise<string> {
  const asked = { signal: tools.stop };
  return await withAgentAt(endpoint, tools, async (agent) => {
    const { blobId, digest } = await agent.fetchLogs(types, filters, asked);
    const path = join(dir, `${ENV_VM}-logs-${stamp(tools.clock.now())}.tgz`);
    try {
      await saveArchive(path, digest, (take) => agent.getBlob(blobId, take, asked));
    } finally {
      await agent.removeBlob(blobId);
    }
    return path;
  });
}
