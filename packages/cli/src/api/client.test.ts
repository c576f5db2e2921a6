import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { errorText, type SlipwayError } from "@slipway/kernel/errors";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { freePort } from "@slipway/testkit/free-port";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeDirector, INFO } from "../testing/fake-director.ts";
import { type ApiClientOptions, Client } from "./client.ts";
import { refusalOf } from "./refusal.ts";

const named = v.object({ name: v.string() });
const SECRET = "correct horse";

let director: FakeDirector;
const clients: Client[] = [];

beforeEach(async () => {
  director = await FakeDirector.start();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await director.close();
});

function client(options: Partial<ApiClientOptions> = {}): Client {
  const made = new Client({
    url: director.url,
    ca: director.ca,
    user: "admin",
    password: SECRET,
    clock: fakeClock({ hurry: true }),
    stop: new AbortController().signal,
    teller: { chunk() {}, taskBegins() {}, taskEnds() {}, note() {} },
    ...options,
  });
  clients.push(made);
  return made;
}

const failure = (work: Promise<unknown>): Promise<SlipwayError> =>
  work.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: SlipwayError) => error,
  );

const get = (path: string) => ({ method: "GET", path }) as const;

describe("a request", () => {
  it("carries name and password, and its query escaped", async () => {
    director.json("GET /events", { name: "x" });
    await client().json({ ...get("/events"), query: { user: "a b", action: undefined } }, named);
    expect(director.seen[0]).toMatchObject({
      url: "/events?user=a%20b",
      headers: { authorization: `Basic ${Buffer.from(`admin:${SECRET}`).toString("base64")}` },
    });
  });

  it("sends no authorization header without a user", async () => {
    director.json("GET /info", INFO);
    await client({ user: undefined, password: undefined }).json(get("/info"), named);
    expect(director.seen[0]?.headers.authorization).toBeUndefined();
  });

  it("keeps its connection for the next read", async () => {
    director.json("GET /info", INFO);
    const api = client();
    await api.json(get("/info"), named);
    await api.json(get("/info"), named);
    expect([director.seen.length, director.connections]).toEqual([2, 1]);
  });

  it("answered with something else says where it differs, without quoting it", async () => {
    director.json("GET /info", { name: 7, password: SECRET });
    const error = await failure(client().json(get("/info"), named));
    expect(error).toMatchObject({ code: "CLI-025" });
    expect(errorText(error)).toContain("answer.name: expected string, got");
    expect(errorText(error)).not.toContain(SECRET);
  });
});

describe("a refusal", () => {
  it.each([
    [404, '{"code":70000,"description":"no deployment"}', 70000, "no deployment"],
    [400, "plain words", undefined, "plain words"],
    [500, "", undefined, "it gave no reason"],
    [401, '{"code":600000,"description":"needs bosh.admin"}', 600000, "needs bosh.admin"],
  ])(
    "a refusal with status %i keeps the Director's words and code",
    async (status, body, directorCode, description) => {
      director.on("GET /x", { status, body });
      const error = await failure(client().text(get("/x")));
      expect(error.code).toBe("CLI-024");
      expect(error.message).toContain(description);
      expect(refusalOf(error)).toEqual({ status, directorCode, description, body });
    },
  );

  it("a refusal of unknown credentials says to log in, and never shows the password", async () => {
    director.on("GET /x", { status: 401, body: "Not authorized: '/x'\n" }).json("GET /info", INFO);
    const error = await failure(client().text(get("/x")));
    expect(error.code).toBe("CLI-022");
    expect(errorText(error)).toContain("log-in");
    expect(errorText(error)).not.toContain(SECRET);
  });

  it("a refusal by a Director with UAA has an error of its own", async () => {
    director
      .on("GET /x", { status: 401 })
      .json("GET /info", { ...INFO, user_authentication: { type: "uaa", options: {} } });
    expect((await failure(client().text(get("/x")))).code).toBe("CLI-023");
  });
});

describe("a task", () => {
  it.each(["/tasks/42", "https://elsewhere:1/tasks/42"])(
    "is taken from the location %s",
    async (location) => {
      director.on("DELETE /deployments/shop", { status: 302, headers: { location } });
      expect(await client().begin({ method: "DELETE", path: "/deployments/shop" })).toBe(42);
      expect(director.seen).toHaveLength(1);
    },
  );

  it("a reply without a task is an error", async () => {
    director.on("POST /stemcells", { status: 200, body: "{}" });
    expect((await failure(client().begin({ method: "POST", path: "/stemcells" }))).code).toBe("CLI-025");
  });
});

describe("trouble on the way", () => {
  it("makes a read try again, five times", async () => {
    director.on("GET /x", { cut: true });
    const clock = fakeClock({ hurry: true });
    const error = await failure(client({ clock }).text(get("/x")));
    expect(error).toMatchObject({ code: "CLI-020" });
    expect(director.seen).toHaveLength(5);
    expect(clock.slept).toEqual([500, 500, 500, 500]);
  });

  it("makes a read try again after 503", async () => {
    let asked = 0;
    director.on("GET /x", () => (++asked < 3 ? { status: 503 } : { body: "there" }));
    expect(await client().text(get("/x"))).toBe("there");
  });

  it("never sends a write twice that may have arrived", async () => {
    director.on("POST /deployments", { cut: true });
    await failure(client().begin({ method: "POST", path: "/deployments", body: "x" }));
    expect(director.seen).toHaveLength(1);
  });

  it("a refused connection says how to start a Director, also for a write", async () => {
    const clock = fakeClock({ hurry: true });
    const url = `https://127.0.0.1:${await freePort()}`;
    const error = await failure(client({ url, clock }).begin({ method: "POST", path: "/x" }));
    expect(errorText(error)).toContain("the connection was refused");
    expect(errorText(error)).toContain("slipway up");
    expect(clock.slept).toHaveLength(4);
  });

  it("a certificate of another authority is reported as such, after one attempt", async () => {
    const other = await FakeDirector.start();
    const error = await failure(client({ ca: other.ca }).text(get("/info")));
    await other.close();
    expect(error.code).toBe("CLI-021");
    expect(errorText(error)).toContain("--ca-cert");
  });

  it("a certificate for another address is reported as such", async () => {
    const other = await FakeDirector.start(["127.9.9.9"]);
    const error = await failure(client({ url: other.url, ca: other.ca }).text(get("/info")));
    await other.close();
    expect(error.message).toContain("made for other names");
  });

  it("a server without TLS is reported as such", async () => {
    const plain = createServer((_, response) => response.end("hello"));
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    const error = await failure(client({ url }).text(get("/info")));
    plain.close();
    expect(error.message).toContain("does not speak TLS");
  });

  it("ends at once when the user does", async () => {
    const stop = new AbortController();
    director.on("GET /x", () => {
      stop.abort();
      return { cut: true };
    });
    await expect(client({ stop: stop.signal }).text(get("/x"))).rejects.toMatchObject({
      name: "Interrupted",
    });
    expect(director.seen).toHaveLength(1);
  });
});

describe("an upload", () => {
  it("is the file as it is, with its length", async () => {
    const path = director.file("stemcell.tgz");
    await writeFile(path, "x".repeat(300_000));
    director.on("POST /stemcells", { status: 302, headers: { location: "/tasks/7" } });
    const body = createReadStream(path);
    const contentType = "application/x-compressed";
    expect(await client().begin({ method: "POST", path: "/stemcells", body, contentType })).toBe(7);
    expect(director.seen[0]?.headers).toMatchObject({
      "content-length": "300000",
      "content-type": contentType,
    });
    expect(director.seen[0]?.body).toHaveLength(300_000);
  });

  it("a refusal is reported even if it comes before the upload was read", async () => {
    const path = director.file("stemcell.tgz");
    await writeFile(path, "x");
    director.on("POST /stemcells", { status: 400, body: "no room", early: true });
    const body = createReadStream(path);
    const error = await failure(client().begin({ method: "POST", path: "/stemcells", body }));
    expect(error.message).toContain("no room");
  });
});
