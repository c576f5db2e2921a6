import * as v from "valibot";
import { integer, text } from "../schema/json.ts";
import { doc, secret } from "../schema/marks.ts";
import { NEVER, parseSchedule } from "./schedule.ts";

/** Parts of the Director's configuration file. */

export const https = (what: string) =>
  v.pipe(
    text(what),
    v.check(
      (url) => URL.canParse(url) && new URL(url).protocol === "https:",
      `${what} must begin with https://`,
    ),
  );

const problemOf = (given: string): string => {
  const parsed = parseSchedule(given);
  return parsed.ok || given === NEVER ? "" : parsed.problem;
};
/** A cron expression, or `never`. */
export const scheduleText = (what: string) =>
  v.pipe(
    text(what),
    v.check(
      (given) => problemOf(given) === "",
      ({ input }) => `${what} must be a schedule as "0 7 * * *", or never: ${problemOf(input)}`,
    ),
  );

const httpUrl = (what: string) =>
  v.pipe(
    text(what),
    v.check(
      (url) => URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol),
      `${what} must begin with https:// or http://`,
    ),
  );

const percentage = v.pipe(v.number(), v.minValue(0), v.maxValue(100));
const natsUrl = v.pipe(
  text("url"),
  v.check(
    (url) => URL.canParse(url) && new URL(url).protocol === "nats:" && new URL(url).hostname !== "",
    "url must be of the form nats://host:port",
  ),
);

const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65535));

export const natsPart = doc(
  v.strictObject({
    server: v.optional(
      doc(
        v.strictObject({
          program: v.optional(doc(text("program"), "default: nats-server, from the PATH")),
          host: v.optional(doc(text("host"), "where it listens; default: 127.0.0.1")),
          port: v.optional(doc(port, "default: 4222")),
        }),
        "a server that the Director starts and keeps running; default: `urls` names one that runs",
      ),
    ),
    urls: v.optional(
      doc(v.array(natsUrl), "by which the Director and agents reach it; default: where `server` listens"),
    ),
    ca: v.optional(
      doc(
        text("ca"),
        "who signed the server's certificate: PEM, or the path of a file; default: the Director's authority",
      ),
    ),
    client_ca: v.optional(
      doc(
        v.strictObject({
          certificate: doc(text("certificate"), "PEM, or the path of a file"),
          private_key: secret(doc(text("private_key"), "PEM, or the path of a file")),
        }),
        "who signs for the Director and agents; the server must trust it; default: the Director's authority",
      ),
    ),
    blobs: v.optional(
      doc(
        v.strictObject({
          host: v.optional(doc(text("host"), "where it listens; default: that of `server`, or 127.0.0.1")),
          port: v.optional(doc(port, "default: 25250")),
          url: v.optional(doc(https("url"), "by which agents reach it; default: where it listens")),
          vm_quota_mb: v.optional(
            doc(
              integer(1, "vm_quota_mb"),
              "most that the agent of one VM has there at a time; default: 2048",
            ),
          ),
          deployment_quota_mb: v.optional(
            doc(
              integer(1, "deployment_quota_mb"),
              "most that all agents of a deployment have there; default: 8192",
            ),
          ),
        }),
        "where agents on NATS get packages and put logs: the Director serves them",
      ),
    ),
  }),
  "agents that are clients of a NATS server; default: none",
);

export const uaaPart = doc(
  v.pipe(
    v.strictObject({
      url: v.optional(doc(https("url"), "where it is, for the CLI too")),
      urls: v.optional(
        doc(v.pipe(v.array(https("url")), v.minLength(1)), "instead of `url`: several addresses"),
      ),
      ca: v.optional(doc(text("ca"), "its CA: PEM, or the path of a file; default: the system's")),
      issuer: v.optional(
        doc(text("issuer"), "who its tokens say they are from; default: url and `/oauth/token`"),
      ),
      audience: v.optional(
        doc(text("audience"), "for whom its tokens must be; default: `bosh`, or what begins with `bosh.`"),
      ),
      keys_url: v.optional(
        doc(https("keys_url"), "where its keys are, as a JSON Web Key Set; default: url and `/token_keys`"),
      ),
      public_key: v.optional(
        doc(
          text("public_key"),
          "the one key of its tokens: PEM, or the path of a file; nothing is fetched then",
        ),
      ),
      symmetric_key: v.optional(secret(doc(text("symmetric_key"), "the one secret of its tokens"))),
    }),
    v.check(
      ({ url, urls }) => (url === undefined) !== (urls === undefined),
      "uaa must have either url or urls",
    ),
  ),
  "whose tokens are accepted beside the passwords of `users`",
);

export const healthPart = doc(
  v.strictObject({
    enabled: v.optional(doc(v.boolean(), "agents are asked how they are; default: they are")),
    interval_s: v.optional(
      doc(v.pipe(v.number(), v.minValue(1)), "how often each agent is asked; default: 30"),
    ),
    unresponsive_after_s: v.optional(
      doc(v.pipe(v.number(), v.minValue(1)), "silence after which an agent is unresponsive; default: 60"),
    ),
    at_once: v.optional(
      doc(v.pipe(v.number(), v.integer(), v.minValue(1)), "agents asked at the same time; default: 64"),
    ),
    resurrection: v.optional(
      v.strictObject({
        enabled: v.optional(
          doc(v.boolean(), "instances that are unresponsive or without a VM get a new one; default: they do"),
        ),
        minimum_down: v.optional(
          doc(
            v.pipe(v.number(), v.integer(), v.minValue(1)),
            "so many instances of a deployment must be down before none of them is replaced; default: 5",
          ),
        ),
        percent_down: v.optional(doc(percentage, "and so many percent of them; default: 20")),
        window_s: v.optional(
          doc(v.pipe(v.number(), v.minValue(0)), "how long one that was down counts; default: 600"),
        ),
        fleet_minimum_down: v.optional(
          doc(
            v.pipe(v.number(), v.integer(), v.minValue(1)),
            "so many of all agents must be silent before nobody at all is replaced; default: 3",
          ),
        ),
        fleet_percent_down: v.optional(doc(percentage, "and so many percent of them; default: 50")),
      }),
    ),
    webhook: v.optional(
      doc(
        v.strictObject({
          url: secret(doc(httpUrl("url"), "where alerts are posted as JSON")),
          ca: v.optional(doc(text("ca"), "its CA: PEM, or the path of a file; default: the system's")),
          authorization: v.optional(secret(doc(text("authorization"), "the header of that name"))),
        }),
        "who else is told of alerts; the Director's log always is",
      ),
    ),
  }),
  "watching instances, and replacing VMs that are gone or silent",
);
