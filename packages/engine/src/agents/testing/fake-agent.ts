import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer, Server } from "node:https";
import type { AddressInfo, Server as NetServer } from "node:net";
import { text } from "node:stream/consumers";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type Authority, type Issued, openAuthority } from "../../pki/authority.ts";
import type { Agent } from "../agent.ts";
import { makeAgents } from "../agents.ts";
import { agentSecret } from "../credentials.ts";

export const AGENT_ID = "agent-7" as AgentId;
export const SECRET = agentSecret("5e".repeat(32));

export interface Asked {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly protocol: number;
  readonly reply_to: string;
  readonly authorization: string | undefined;
}

/** Handler of a fake agent's requests. It may leave a request unanswered. */
export type Talk = (asked: Asked, response: ServerResponse) => void;

export const answers = (response: ServerResponse, reply: unknown): void => {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(reply));
};

/** Every question gets the value that `of` has for it. */
export const values =
  (of: (asked: Asked) => unknown): Talk =>
  (asked, response) =>
    answers(response, { value: of(asked) });

export interface FakeAgent {
  readonly asked: Asked[];
  readonly methods: () => string[];
  readonly server: Server;
  readonly port: number;
  readonly agent: Agent;
  readonly warnings: string[];
  /** Our side of it ends. */
  readonly close: () => void;
}

/** Agents of one authority that talk as a test says. To be called where `beforeAll` may. */
export function fakeAgents() {
  let authority: Authority;
  let issued: Issued;
  let remove = async () => {};
  beforeAll(async () => {
    const directory = await temporaryDirectory();
    remove = directory.remove;
    authority = await openAuthority({ dir: directory.path, clock: systemClock, random: systemRandom });
    const sans = { dns: [AGENT_ID], ips: ["127.0.0.1"] };
    issued = await authority.issue({ commonName: AGENT_ID, sans, usage: "server", days: 1 });
  });
  afterAll(() => remove());

  return {
    /** Our side of an agent at a port. */
    agentAt(port: number, clock: Clock): Agent {
      return this.agentsAt(port, clock).agent;
    },
    agentsAt: (port: number, clock: Clock, warnings: string[] = []) => {
      const agents = makeAgents({
        authority,
        secret: SECRET,
        port,
        clock,
        random: systemRandom,
        directorUuid: "d-1",
        warn: (line) => warnings.push(line),
      });
      onTestFinished(() => agents.close());
      const agent = agents.agent({ agentId: AGENT_ID, agentUrl: `https://127.0.0.1:${port}` });
      return { agent, close: () => agents.close() };
    },
    async open(talk: Talk, clock: Clock = systemClock): Promise<FakeAgent> {
      const asked: Asked[] = [];
      const server = createServer(
        { key: issued.privateKey, cert: issued.certificate },
        (request, response) =>
          void text(request).then((body) => {
            const question = { ...JSON.parse(body), authorization: request.headers.authorization } as Asked;
            asked.push(question);
            talk(question, response);
          }),
      );
      const port = await listening(server);
      const warnings: string[] = [];
      const methods = () => asked.map(({ method }) => method);
      return { asked, methods, server, port, warnings, ...this.agentsAt(port, clock, warnings) };
    },
  };
}

/** Listens on a port of its own until the test is over. */
export async function listening(server: NetServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    if (server instanceof Server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
