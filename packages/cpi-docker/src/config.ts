import { provisioning } from "@slipway/cpi-sdk/provisioning";
import { doc, secret } from "@slipway/protocol/schema/marks";
import * as v from "valibot";

const text = (what: string) => v.pipe(v.string(), v.nonEmpty(what));

/** The section `docker` of the configuration. */
export const dockerConfig = v.object({
  dir: doc(
    text("name a directory for what this CPI remembers"),
    "where requests that were answered are remembered",
  ),
  host: v.optional(
    doc(text("host must not be empty"), "the engine: `unix:///var/run/docker.sock` or `tcp://HOST:2376`"),
    "unix:///var/run/docker.sock",
  ),
  tls: v.optional(
    doc(
      v.strictObject({
        ca: doc(text("tls.ca must not be empty"), "the certificate authority of the engine, PEM"),
        certificate: doc(text("tls.certificate must not be empty"), "this CPI's certificate, PEM"),
        private_key: secret(text("tls.private_key must not be empty")),
      }),
      "for `tcp://`: mutual TLS",
    ),
  ),
  volume: v.optional(
    doc(
      v.pipe(v.string(), v.regex(/^[a-zA-Z0-9][\w.-]{0,62}$/, "volume must be a name of a Docker volume")),
      "the Docker volume that persistent disks and snapshots are files in",
    ),
    "slipway-disks",
  ),
  provisioning: v.optional(
    doc(
      provisioning,
      "of disks in the volume whose type does not say: `preallocated` has all its space from the start, `thin` takes it as it is written to",
    ),
    "preallocated",
  ),
  devices: v.optional(
    doc(
      v.array(
        v.pipe(
          v.string(),
          v.regex(
            /^\/dev\/(?!.*\.\.)[\w.:+@/-]+$/,
            "a device is a path in /dev, best one of /dev/disk/by-id",
          ),
        ),
      ),
      "block devices of the engine's host that disks of the type `device` may take, whole",
    ),
  ),
  keeper_image: v.optional(
    doc(
      text("keeper_image must not be empty"),
      "image of the container that works on disks, on the engine; the first stemcell when left out",
    ),
  ),
  network: v.optional(
    doc(text("network must not be empty"), "the Docker network of dynamic networks that name none"),
    "bridge",
  ),
});

export type DockerConfig = v.InferOutput<typeof dockerConfig>;
