import { AGENT_USER, agentSecret } from "@slipway/engine/agents/credentials";
import { agentName, bootstrapName, natsClient } from "@slipway/engine/agents/nats/names";
import { introduced, testAuthority } from "@slipway/engine/agents/testing/real-agent";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { call } from "@slipway/testkit/https-client";
import { describe, expect, it } from "vitest";
import { A, CANARY } from "./testing/two-teams.ts";

const bundle = agentBundle();
/** Secret of the Director that `introduced` stands for. */
const SECRET = agentSecret("5e".repeat(32));
const BLOB = "/blobs/ab/rendered";
const content = `${CANARY}-blob`;

interface Credentials {
  readonly what: string;
  readonly cert?: string;
  readonly key?: string;
  readonly auth: string;
}

/** Two real agents of one Director over HTTPS. The first holds a spec, a blob and logs that name its team. */
async function twoAgents() {
  const authority = await testAuthority();
  const [ofA, ofB] = [await introduced(bundle(), { authority }), await introduced(bundle(), { authority })];
  await ofA.start();
  await ofB.start();
  await ofA.agent.apply({
    ...{ deployment: A, job: { name: "web" }, index: 0, id: "i-1", networks: {} },
    properties: { password: `${CANARY}-property` },
    env: { note: `${CANARY}-env` },
  });
  const issued = async (name: { readonly commonName: string; readonly subject?: "bosh" }) => {
    const made = await authority.issue({ ...name, sans: { dns: [], ips: [] }, usage: "client", days: 1 });
    return { cert: made.certificate, key: made.privateKey };
  };
  const director = {
    what: "the Director's certificate and the agent's password",
    ...(await issued({ commonName: "director d" })),
    auth: `${AGENT_USER}:${SECRET.passwordFor(ofA.agentId)}`,
  };
  const send = (method: string, path: string, { cert, key, auth }: Credentials, body?: string) =>
    call(ofA.machine.port, path, {
      ...{ method, auth, ca: authority.ca, ...(cert && { cert, key }) },
      ...(body !== undefined && { body }),
    });
  expect(await send("PUT", BLOB, director, content)).toMatchObject({ status: 201 });

  /** Everything that a VM of the second deployment has been given, in all combinations. */
  const held = async (): Promise<readonly Credentials[]> => {
    const { envBosh } = await ofB.agents.introduce({ agentId: ofB.agentId, ips: ["127.0.0.1"] });
    const { cert: own } = (envBosh as { mbus: { cert: Record<string, string> } }).mbus;
    const certificates = [
      { of: "no certificate" },
      { of: "its certificate", cert: own?.certificate ?? "", key: own?.private_key ?? "" },
      { of: "its NATS certificate", ...(await issued(natsClient(agentName(ofB.agentId)))) },
      { of: "its first NATS certificate", ...(await issued(natsClient(bootstrapName(ofB.agentId)))) },
    ];
    const { agentId: mine } = ofB;
    const passwords = [SECRET.passwordFor(mine), SECRET.blobPasswordFor(mine), ""];
    const pairs = [AGENT_USER, mine, ofA.agentId].flatMap((user) =>
      passwords.map((password, nth) => ({ auth: `${user}:${password}`, by: `${user} and password ${nth}` })),
    );
    return certificates.flatMap(({ of, ...certificate }) =>
      pairs.map(({ auth, by }) => ({ what: `${of}, ${by}`, ...certificate, auth })),
    );
  };

  /** Everything that the credentials show or change of the first agent. */
  const reached = async (all: readonly Credentials[]): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const one of all) {
      const requests: readonly {
        readonly method: string;
        readonly path: string;
        readonly name: string;
        readonly body?: string;
      }[] = [
        ...["ping", "get_state", "fetch_logs", "stop"].map((method) => ({
          ...{ method: "POST", path: "/agent", name: method },
          body: JSON.stringify({ protocol: 3, method, arguments: [], reply_to: "x" }),
        })),
        { method: "GET", path: BLOB, name: "GET" },
        { method: "PUT", path: BLOB, name: "PUT", body: "forged" },
        { method: "DELETE", path: BLOB, name: "DELETE" },
      ];
      for (const { method, path, name, body } of requests) {
        const answer = await send(method, path, one, body).catch(() => undefined);
        if (answer === undefined || answer.status === 401) continue;
        const shows = answer.text.includes(CANARY) ? ", and shows the canary" : "";
        found.push(`${one.what}: ${name} is answered ${answer.status}${shows}`);
      }
    }
    return found;
  };
  return { director, held, reached, send };
}

describe("an agent over HTTPS", () => {
  it("neither answers nor gives or takes blobs with anything that a VM of another deployment holds", async () => {
    const { director, held, reached, send } = await twoAgents();
    expect(await reached(await held())).toEqual([]);
    expect((await send("GET", BLOB, director)).text).toBe(content);
  });

  it("is checked so that credentials which reach it are noticed", async () => {
    const { director, reached, send } = await twoAgents();
    const what = director.what;
    expect(await reached([director])).toEqual(
      expect.arrayContaining([
        `${what}: ping is answered 200`,
        `${what}: get_state is answered 200, and shows the canary`,
        `${what}: GET is answered 200, and shows the canary`,
      ]),
    );
    expect((await send("GET", BLOB, director)).text).not.toBe(content);
  });

  it("is not reached with its own password and the certificate of another agent", async () => {
    const { director, held, reached } = await twoAgents();
    const stolen = (await held())
      .filter(({ what }) => what.startsWith("its certificate"))
      .map((one) => ({ ...one, auth: director.auth }));
    expect(stolen.length).toBeGreaterThan(0);
    expect(await reached(stolen)).toEqual([]);
  });
});
