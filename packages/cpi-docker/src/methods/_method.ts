import type { Methods } from "@slipway/cpi-sdk/cpi";
import type { DockerConfig } from "../config.ts";

export type DockerMethods = Required<Methods<DockerConfig>>;
