import type { IncomingMessage } from "node:http";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { authenticator, guessOf, identify, type Login } from "./auth.ts";
import { authorize } from "./authorize.ts";
import { BODY_LIMIT, type Call, type Query, READER_BODY_LIMIT, readJson, readText } from "./call.ts";
import { conditional } from "./conditional.ts";
import { errorReply, isOurs, RequestFailed } from "./errors.ts";
import { FailureLimit } from "./failure-limit.ts";
import { accessOf, NO_ACCESS } from "./permissions.ts";
import { BadParameter } from "./refusals.ts";
import { plain, type Reply } from "./reply.ts";
import { type Route, routeFor } from "./route.ts";
import type { ApiUser, Services } from "./services.ts";

/** Bytes of an unwanted body that are still read, so that the sender sees the answer and not a broken pipe. */
const DRAIN_BYTES = 64 << 20;
const DRAIN_MS = 20_000;

/** Connects HTTP to the endpoints: authenticates the caller, checks the permission of the route, and sends the answer. */
export function requestHandler(services: Services) {
  let authenticate = authenticator(services.users);
  const failures = new FailureLimit(services.clock);
  const { uuid } = services.identity;
  const { db } = services;
  const callers = new WeakMap<FastifyRequest, string>();
  const underWay = new Set<Promise<Reply>>();

  const answer = (variants: readonly Route[], request: FastifyRequest): Promise<Reply> => {
    const reply = replyTo(variants, request).finally(() => underWay.delete(reply));
    underWay.add(reply);
    return reply;
  };

  const replyTo = async (variants: readonly Route[], request: FastifyRequest): Promise<Reply> => {
    const route = routeFor(variants, request.headers["content-type"]);
    if (route === undefined) return plain(404, "not found\n");
    const query = request.query as Query;
    const permission = typeof route.permission === "function" ? route.permission(query) : route.permission;
    const { authorization } = request.headers;
    // Also for endpoints that need no login: their answer shows whether the password is right.
    const guess = guessOf(authorization);
    const wait = guess === undefined ? 0 : failures.wait(guess, request.ip);
    if (wait > 0) return tooManyFailures(wait);
    let login: Login;
    try {
      login = await identify(authorization, authenticate, services.tokens);
    } catch (error) {
      services.onError(error, { request: request.id });
      if (permission !== "anyone") return errorReply(error);
      login = { kind: "nobody" };
    }
    if (login.kind === "user") callers.set(request, login.name);
    if (login.kind === "wrong" && guess !== undefined) failures.failed(guess, request.ip);
    if (permission !== "anyone" && login.kind !== "user") return unauthorized(pathOf(request));
    const { body } = route.endpoint;
    const user = login.kind === "user" ? login.name : "";
    const access = login.kind === "user" ? accessOf(login.scopes, uuid) : NO_ACCESS;
    const reader = !access.admin && access.adminOf.length === 0;
    const text = () => readText(request.raw, services.clock, reader ? READER_BODY_LIMIT : BODY_LIMIT);
    const params = request.params as Call["params"];
    const unusable = unusableName(params, query);
    if (unusable !== undefined) return errorReply(BadParameter(unusable));
    const call: Call = {
      params,
      query,
      user,
      access,
      requestId: request.id,
      header: (name) => firstOf(request.headers[name]),
      text,
      json: async () => (body === undefined ? undefined : readJson(await text(), body)),
      stream: request.raw,
    };
    try {
      await authorize(permission, { access: call.access, params, query, db });
      const documents = services.documents.askedBy({ name: user, reader });
      const reply = await route.endpoint.answer(call, { ...services, documents });
      services.onReply?.(route.endpoint, reply);
      return conditional(reply, request.method, firstOf(request.headers["if-none-match"]));
    } catch (error) {
      return failed(error, request);
    }
  };

  const failed = (error: unknown, request: FastifyRequest): Reply => {
    if (isOurs(error)) {
      const route = request.routeOptions.url ?? "?";
      services.onError(RequestFailed({ method: request.method, route }, { cause: error }), {
        request: request.id,
      });
    }
    return errorReply(error);
  };

  /** Returns the answer to what the framework refuses before an endpoint sees it, such as an invalid content type. */
  const refused = (error: FastifyError, request: FastifyRequest): Reply => {
    if (error.code?.startsWith("FST_ERR_CTP")) return plain(404, "not found\n");
    const status = error.statusCode ?? 500;
    return status >= 400 && status < 500 ? plain(status, "bad request\n") : failed(error, request);
  };

  const answered = (request: FastifyRequest, reply: FastifyReply): void =>
    services.onAnswered?.({
      id: request.id,
      method: request.method,
      path: pathOf(request),
      route: request.routeOptions.url ?? "unknown",
      status: reply.statusCode,
      ms: reply.elapsedTime,
      user: callers.get(request),
      from: request.ip,
      location: String(reply.getHeader("location") ?? ""),
    });

  return {
    answer,
    answered,
    refused,
    settle: (stream: IncomingMessage) => drain(stream, services),
    /** Waits until no request is being worked on, even for callers that have hung up. */
    idle: async (): Promise<void> => void (await Promise.allSettled(underWay)),
    useUsers: (users: readonly ApiUser[]) => {
      authenticate = authenticator(users);
    },
  };
}

function tooManyFailures(waitMs: number): Reply {
  const seconds = Math.ceil(waitMs / 1000);
  const text = `too many failed logins with this name from this address; try again in ${seconds} s\n`;
  return plain(429, text, { "retry-after": String(seconds) });
}

const unauthorized = (path: string): Reply =>
  plain(401, `Not authorized: '${path}'\n`, { "www-authenticate": 'Basic realm="BOSH Director"' });

/** Cids are long in some clouds, and indexes of the store take no more. No store keeps these characters. */
const LONGEST_NAME = 2048;
const UNSTORABLE = /[\0\ud800-\udfff]/u;

function unusableName(params: Call["params"], query: Query) {
  const expected = `text of at most ${LONGEST_NAME} characters, without NUL and half characters`;
  const bad = (text: string) => UNSTORABLE.test(text) || text.length > LONGEST_NAME;
  for (const [name, value] of Object.entries(params)) if (bad(value)) return { name, expected };
  for (const [name, value] of Object.entries(query)) {
    if (bad(name)) return { name: "a name in the query", expected };
    // The context of a deploy names its configs in a JSON document.
    if (name === "context" ? UNSTORABLE.test(String(value)) : [value ?? ""].flat().some(bad))
      return { name, expected };
  }
  return undefined;
}

const pathOf = (request: FastifyRequest): string => request.url.split("?", 1)[0] ?? "";

const firstOf = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : value?.[0];

/**
 * A connection that is closed while data is coming in is reset, and its sender may lose the answer. The CLI would then
 * send everything again.
 */
function drain(stream: IncomingMessage, { clock }: Pick<Services, "clock">): Promise<void> {
  return new Promise((resolve) => {
    if (stream.complete || stream.destroyed) return resolve();
    let seen = 0;
    const cancel = clock.after(DRAIN_MS, () => done());
    const count = (chunk: Buffer) => {
      seen += chunk.length;
      if (seen > DRAIN_BYTES) done();
    };
    const done = () => {
      cancel();
      stream.off("data", count);
      stream.off("end", done);
      stream.off("close", done);
      stream.off("error", done);
      resolve();
    };
    stream.once("end", done);
    stream.once("close", done);
    stream.once("error", done);
    stream.on("data", count);
  });
}
