import type { Call } from "./call.ts";
import type { Permission } from "./permissions.ts";
import type { Reply } from "./reply.ts";
import type { Services } from "./services.ts";

export type Handler = (call: Call, services: Services) => Promise<Reply>;

/** Which body a route is for. Upstream finds a route by path and content type: another type is no such route. */
export type Body = "any" | "yaml" | "json" | "archive";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly permission: Permission | ((call: Pick<Call, "query">) => Permission);
  readonly body: Body;
  readonly handle: Handler;
}

const TYPES: Readonly<Record<Exclude<Body, "any">, string>> = {
  yaml: "text/yaml",
  json: "application/json",
  archive: "application/x-compressed",
};

/** Of several routes with one path, the one for the content type that came; parameters after `;` do not count. */
export function routeFor(routes: readonly Route[], contentType: string | undefined): Route | undefined {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  return routes.find(({ body }) => body === "any" || TYPES[body] === type);
}
