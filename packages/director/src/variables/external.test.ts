import { VariableMissing } from "@slipway/engine/variables/errors";
import { systemClock } from "@slipway/kernel/clock";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { expectNoSecrets } from "@slipway/testkit/canaries";
import { OTHER_CA } from "@slipway/testkit/certificates";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ConfigServerAway, FetchFailed, GenerationRefused, NoToken } from "./errors.ts";
import { ExternalConfigServer, type ExternalOptions } from "./external.ts";
import {
  CLIENT,
  type FakeConfigServer,
  fakeConfigServer,
  unansweredUrl,
} from "./testing/fake-config-server.ts";

let fake: FakeConfigServer;
beforeEach(async () => {
  fake = await fakeConfigServer();
  return () => fake.close();
});

function server(more: Partial<ExternalOptions> = {}): ExternalConfigServer {
  const { client_id: clientId, client_secret: clientSecret } = CLIENT;
  const made = new ExternalConfigServer({
    url: `${fake.url}/api`,
    ca: fake.ca,
    uaa: { url: `${fake.url}/uaa`, clientId, clientSecret, ca: fake.ca },
    clock: systemClock,
    ...more,
  });
  onTestFinished(() => made.close());
  return made;
}
const PASSWORD = {
  name: "/l/d/pw",
  type: "password",
  options: {},
  mode: "no-overwrite",
  requestId: "1",
} as const;
const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: Error) => {
      expectNoSecrets(`${errorText(error)} ${messageTrail(error)}`);
      return error;
    },
  );
const json =
  (status: number, document: unknown): FakeConfigServer["instead"] =>
  (_, response) => {
    response.writeHead(status).end(typeof document === "string" ? document : JSON.stringify(document));
    return true;
  };

describe("an external config server", () => {
  it("is asked as upstream asks it, with one token for all", async () => {
    const one = server();
    const id = await one.generate(PASSWORD);
    expect(await one.generate(PASSWORD)).toBe(id);
    const found = await one.newest("/l/d/pw");
    expect(found).toEqual({ id, value: expect.stringMatching(/^CANARY-password/) });
    const next = await one.generate({ ...PASSWORD, mode: "overwrite" });
    expect([next === id, await one.byId(id, "/l/d/pw")]).toEqual([false, found]);
    expect(fake.asked).toEqual([
      "POST /api/v1/data",
      "POST /api/v1/data",
      "GET /api/v1/data?name=%2Fl%2Fd%2Fpw&current=true",
      "POST /api/v1/data",
      "GET /api/v1/data/id-1",
    ]);
    expect(fake.tokens).toBe(1);
  });

  it("a token that is refused is renewed once", async () => {
    const one = server();
    let refused = 0;
    fake.instead = (_, response) => {
      if (refused++ > 0) return false;
      response.writeHead(401).end("{}");
      return true;
    };
    await one.generate(PASSWORD);
    expect([fake.tokens, fake.asked.length]).toEqual([2, 2]);
    fake.instead = json(401, {});
    expect(ConfigServerAway.is(await failure(one.newest("/l/d/pw")))).toBe(true);
    expect(fake.asked.length).toBe(4);
  });

  it("a token is renewed before it ends", async () => {
    const clock = fakeClock({ start: Date.UTC(2030, 0, 1) });
    const one = server({ clock });
    await one.generate(PASSWORD);
    await clock.advance(3_600_000);
    await one.newest("/l/d/pw");
    expect(fake.tokens).toBe(2);
  });

  it("says in upstream's words what is missing", async () => {
    const missing = await failure(server().newest("/l/d/gone"));
    expect(VariableMissing.is(missing)).toBe(true);
    expect(missing.message).toBe(
      "Failed to find variable '/l/d/gone' from config server: HTTP Code '404', Error: 'not here'",
    );
    expect((await failure(server().byId("7", "/l/d/gone"))).message).toBe(
      "Failed to find variable '/l/d/gone' with id '7' from config server: HTTP Code '404', Error: 'not here'",
    );
  });

  it.each<[string, FakeConfigServer["instead"], RegExp]>([
    ["no JSON", json(200, "<html>CANARY-x"), /Invalid JSON response/],
    ["another status", json(500, { error: "broken" }), /HTTP Code '500', Error: 'broken'/],
    ["no list", json(200, { data: {} }), /Expected data to be an array/],
    ["nothing", json(200, { data: [] }), /non empty array/],
    ["no map", json(200, { data: ["CANARY-x"] }), /Expected data\[0\] to be a hash/],
    ["no id", json(200, { data: [{ value: "CANARY-x" }] }), /Expected data\[0\] to have key 'id'/],
    ["an id that is none", json(200, { data: [{ id: "))((", value: 1 }] }), /letters, digits and dashes/],
    ["no value", json(200, { data: [{ id: "1" }] }), /Expected data\[0\] to have key 'value'/],
  ])("an answer with %s is an error", async (_, instead, words) => {
    fake.instead = instead;
    const error = await failure(server().newest("/l/d/pw"));
    expect([FetchFailed.is(error), error.message]).toEqual([true, expect.stringMatching(words)]);
  });

  it.each<[string, FakeConfigServer["instead"], RegExp]>([
    ["no JSON", json(200, "CANARY-x"), /NON-JSON/],
    ["a refusal", json(400, { error: "no such type" }), /HTTP Code '400', Error: 'no such type'/],
    ["no id", json(201, { value: "CANARY-x" }), /to have key 'id'/],
  ])("a generation answered with %s is an error", async (_, instead, words) => {
    fake.instead = instead;
    const error = await failure(server().generate(PASSWORD));
    expect([GenerationRefused.is(error), error.message]).toEqual([true, expect.stringMatching(words)]);
  });

  it("one that is away is tried three times; one that breaks off, too", async () => {
    const away = await failure(server({ url: await unansweredUrl() }).newest("/l/d/pw"));
    expect([ConfigServerAway.is(away), away.message]).toEqual([
      true,
      expect.stringMatching(
        /^fetching '\/l\/d\/pw': the config server https:\/\/127\.0\.0\.1:\d+ cannot be asked: /,
      ),
    ]);
    let cut = 0;
    fake.instead = (_, response) => {
      if (cut++ >= 2) return false;
      response.socket?.destroy();
      return true;
    };
    await server().generate(PASSWORD);
    expect(cut).toBe(3);
  });

  it("one that never answers is given up", async () => {
    const clock = fakeClock({ start: Date.UTC(2030, 0, 1) });
    const silent = new Promise<void>((resolve) => {
      fake.instead = () => {
        resolve();
        return true;
      };
    });
    const asked = failure(server({ clock }).newest("/l/d/pw"));
    await silent;
    await clock.advance(30_000);
    expect((await asked).message).toMatch(/did not finish within 30 s/);
  });

  it("receives requests only if its certificate is known", async () => {
    const error = await failure(server({ ca: OTHER_CA }).newest("/l/d/pw"));
    expect([ConfigServerAway.is(error), fake.asked]).toEqual([true, []]);
  });

  it("gives no token for a wrong client secret", async () => {
    const uaa = { url: `${fake.url}/uaa`, clientId: "director", clientSecret: "CANARY-wrong", ca: fake.ca };
    const error = await failure(server({ uaa }).newest("/l/d/pw"));
    expect([NoToken.is(error), error.message]).toEqual([
      true,
      `Failed to obtain valid token from UAA: ${fake.url}: it answers HTTP 401`,
    ]);
  });
});
