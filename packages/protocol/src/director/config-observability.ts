import * as v from "valibot";
import { mapOf, text } from "../schema/json.ts";
import { doc, secret } from "../schema/marks.ts";

/** Parts of the Director's configuration file for logs and traces. */

export const loggingPart = doc(
  v.strictObject({
    level: v.optional(
      doc(
        v.picklist(["debug", "info", "warn", "error"]),
        "the least that is written; default: info. At debug also what only reads, and every call to a CPI or an agent",
      ),
    ),
    format: v.optional(
      doc(v.picklist(["text", "json"]), "lines for people, or a JSON document each; default: text"),
    ),
    access_events: v.optional(
      doc(v.boolean(), "every request is written at info; default: those that change something"),
    ),
  }),
  "the Director's own log, on stderr",
);

export const proxyUrl = v.pipe(
  text("a proxy"),
  v.check(
    (url) => URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol),
    "a proxy must begin with http:// or https://",
  ),
);

const httpUrl = v.pipe(
  text("endpoint"),
  v.check(
    (url) => URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol),
    "endpoint must begin with https:// or http://",
  ),
);

export const tracingPart = doc(
  v.strictObject({
    otlp: v.strictObject({
      endpoint: doc(
        secret(httpUrl),
        "where spans are posted, as OTLP over HTTP with JSON: the address of a collector, to which `/v1/traces` is added, or one that ends so",
      ),
      headers: v.optional(
        doc(secret(mapOf(text("a header"))), "sent along: the value, or the path of a file that has it"),
      ),
      ca: v.optional(
        doc(text("ca"), "who signed its certificate: PEM, or the path of a file; default: the system's"),
      ),
    }),
    service_name: v.optional(doc(text("service_name"), "default: slipway-director")),
  }),
  "traces of tasks, for OpenTelemetry; default: none",
);
