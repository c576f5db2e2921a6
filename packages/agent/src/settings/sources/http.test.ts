import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@slipway/kernel/clock";
import { describe, expect, it, onTestFinished } from "vitest";
import { FIRST_SEARCH, SettingsFinder } from "../find.ts";
import { AGENT_ID, NEVER, SETTINGS_TEXT, tools } from "../testing/settings-lab.ts";
import { makeSource } from "./make.ts";

/** A real metadata service. */
async function service(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const aws = (uri: string) =>
  ({
    Type: "HTTP",
    URI: uri,
    UserDataPath: "/latest/user-data",
    InstanceIDPath: "/latest/meta-data/instance-id",
    SSHKeysPath: "/latest/keys",
    TokenPath: "/latest/api/token",
    Headers: { "X-Mine": "yes" },
  }) as const;

const finder = (uri: string, t: Awaited<ReturnType<typeof tools>>) =>
  new SettingsFinder({ sources: [makeSource(aws(uri), t)], useRegistry: undefined, useServerName: false }, t);

describe("an HTTP metadata service", () => {
  it("is asked with the token it gave and the configured headers", async () => {
    const seen: string[] = [];
    const uri = await service((request, response) => {
      const { "x-aws-ec2-metadata-token": token, "x-aws-ec2-metadata-token-ttl-seconds": life } =
        request.headers;
      seen.push(`${request.method} ${request.url} ${token ?? life} ${request.headers["x-mine"]}`);
      if (request.method === "PUT") response.end("T0KEN\n");
      else response.end(request.url?.endsWith("instance-id") ? "i-1\n" : SETTINGS_TEXT);
    });
    const source = makeSource(aws(uri), await tools());
    expect(await source.read(NEVER)).toBe(SETTINGS_TEXT);
    expect(await source.instanceId?.(NEVER)).toBe("i-1");
    expect(seen.slice(0, 2)).toEqual(["PUT /latest/api/token 300 yes", "GET /latest/user-data T0KEN yes"]);
  });

  it("is asked without a token if it does not support tokens", async () => {
    const uri = await service((request, response) => {
      if (request.method === "PUT") response.writeHead(405).end("no");
      else response.end(request.headers["x-aws-ec2-metadata-token"] ?? SETTINGS_TEXT);
    });
    expect(await makeSource(aws(uri), await tools()).read(NEVER)).toBe(SETTINGS_TEXT);
  });

  it("may lack an SSH key", async () => {
    const uri = await service((request, response) => {
      response.writeHead(request.method === "PUT" ? 200 : 404).end();
    });
    expect(await makeSource(aws(uri), await tools()).sshKey?.(NEVER)).toBeUndefined();
  });

  it("is asked again while it fails, lies or sends nothing, and then believed", async () => {
    const bodies = [
      [500, "oops"],
      [404, ""],
      [200, "<html>login</html>"],
      [200, ""],
      [200, '{"agent_id":'],
    ];
    let asked = 0;
    const uri = await service((request, response) => {
      if (request.method === "PUT") return void response.writeHead(404).end();
      const [status, body] = bodies[asked++] ?? [200, SETTINGS_TEXT];
      response.writeHead(Number(status)).end(body);
    });
    const found = await finder(uri, await tools()).find(NEVER, FIRST_SEARCH);
    expect(found.settings.agent_id).toBe(AGENT_ID);
    expect(asked).toBe(6);
  });

  it.each([
    ["plain", (text: string) => Buffer.from(text).toString("base64url")],
    ["in quotes", (text: string) => `"${Buffer.from(text).toString("base64url")}"\n`],
  ])("may serve URL-safe base64, %s", async (_, encode) => {
    const uri = await service((request, response) => {
      response.end(request.method === "PUT" ? "t" : encode(SETTINGS_TEXT));
    });
    expect((await finder(uri, await tools()).find(NEVER, FIRST_SEARCH)).settings.agent_id).toBe(AGENT_ID);
  });

  it("is given up after the timeout if it drips its answer, and the error has the cause", async () => {
    const uri = await service((_request, response) => void response.write("{"));
    const t = { ...(await tools()), clock: systemClock, attemptTimeoutMs: 40 };
    const source = makeSource({ Type: "HTTP", URI: uri }, t);
    await expect(source.read(NEVER)).rejects.toThrow("did not finish within 0.04 s");
  });

  it("is not waited for once the caller aborts", async () => {
    const uri = await service(() => undefined);
    const leaving = new AbortController();
    const read = makeSource({ Type: "HTTP", URI: uri }, { ...(await tools()), clock: systemClock }).read(
      leaving.signal,
    );
    leaving.abort(new Error("left"));
    await expect(read).rejects.toThrow("left");
  });

  it("is named without the credentials in its address", async () => {
    const source = makeSource(
      { Type: "HTTP", URI: "http://me:canary@h:1", UserDataPath: "/x?key=canary" },
      await tools(),
    );
    expect(source.name).toBe("HTTP http://h:1/x");
  });

  it("serves the settings as one attribute on Google", async () => {
    const uri = await service((request, response) => {
      response.end(
        request.headers["metadata-flavor"] === "Google" && request.url === "/attr" ? SETTINGS_TEXT : "",
      );
    });
    const entry = {
      Type: "InstanceMetadata",
      URI: uri,
      SettingsPath: "/attr",
      Headers: { "Metadata-Flavor": "Google" },
    } as const;
    expect(await makeSource(entry, await tools()).read(NEVER)).toBe(SETTINGS_TEXT);
  });

  it("brings a network up first", async () => {
    const uri = await service((_request, response) => void response.end("{}"));
    let ensured = 0;
    const t = { ...(await tools()), ensureNetwork: async () => void ensured++ };
    await makeSource({ Type: "HTTP", URI: uri }, t).read(NEVER);
    expect(ensured).toBe(1);
  });
});
