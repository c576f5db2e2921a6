import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import type * as v from "valibot";
import type { Call, Query, Shapes } from "./call.ts";
import type { Permission } from "./permissions.ts";
import type { Reply } from "./reply.ts";
import type { Services } from "./services.ts";

/** Answers requests, and says by which schemas: they check bodies, type the code, and are what the API's page lists. */
export interface Endpoint extends Shapes {
  answer(call: Call, services: Services): Promise<Reply>;
}

type EndpointReply<S extends Shapes> = S["reply"] extends v.GenericSchema ? ReplyOf<S["reply"]> : never;

/**
 * Defines an endpoint. It reads only declared names of the query and keys of the body, and answers only the declared document.
 */
export const endpoint = <const S extends Shapes>(
  shapes: S,
  answer: (call: Call<S>, services: Services) => Promise<Reply<EndpointReply<S>>>,
): Endpoint => ({
  ...shapes,
  // The server reads the body by the same schema.
  answer: (call, services) => answer(call as unknown as Call<S>, services),
});

/** Kind of body that a route accepts. Upstream finds a route by path and content type: another type is no such route. */
export type Body = "any" | "yaml" | "json" | "archive";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly permission: Permission | ((query: Query) => Permission);
  readonly body: Body;
  readonly endpoint: Endpoint;
}

const TYPES: Readonly<Record<Exclude<Body, "any">, string>> = {
  yaml: "text/yaml",
  json: "application/json",
  archive: "application/x-compressed",
};

/** Returns the route for the content type, out of several with one path. Parameters after `;` do not count. */
export function routeFor(routes: readonly Route[], contentType: string | undefined): Route | undefined {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  return routes.find(({ body }) => body === "any" || TYPES[body] === type);
}
