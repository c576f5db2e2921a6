import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { AGENT_SERVER } from "@slipway/testkit/certificates";
import { describe, expect, it } from "vitest";
import { silentLog } from "../log.ts";
import { blobDirectory } from "./blob-directory.ts";
import { type AgentTransportOptions, transportForUrl } from "./for-url.ts";

const transport = (...urls: string[]) => {
  const options: AgentTransportOptions = {
    urls,
    credentials: AGENT_SERVER,
    agentId: "agent-1",
    blobs: blobDirectory("/nonexistent", systemRandom),
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  };
  return transportForUrl(options);
};

describe("the scheme of the bus URL", () => {
  it("chooses the transport", async () => {
    expect((await transport("https://u:p@0.0.0.0:6868")).description).toBe("https://0.0.0.0:6868");
    expect((await transport("NATS://10.0.0.6:4222", "nats://b")).description).toBe(
      "nats://10.0.0.6:4222,b:4222",
    );
  });

  it.each([
    [["http://u:s3cret@x"], 'the message bus URL has the scheme "http", which this agent does not speak'],
    [["redis://u:s3cret@x"], 'the message bus URL has the scheme "redis", which this agent does not speak'],
    [[], "the message bus URL is not usable: there is none"],
    [["s3cret"], "the message bus URL is not usable: it has no scheme"],
    [
      ["nats://a", "https://u:s3cret@b"],
      "the message bus URL is not usable: there are several of different schemes",
    ],
    [
      ["https://u:s3cret@a", "https://u:s3cret@b"],
      "the message bus URL is not usable: there are several to listen on",
    ],
  ])("is refused with the reason and without the password if it is invalid: %s", async (urls, why) => {
    await expect(transport(...urls)).rejects.toThrow(why);
    await expect(transport(...urls)).rejects.not.toThrow("s3cret");
  });
});
