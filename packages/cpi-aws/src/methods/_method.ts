import type { Methods } from "@slipway/cpi-sdk/cpi";
import type { AwsConfig } from "../config.ts";

export type AwsMethods = Required<Methods<AwsConfig>>;
