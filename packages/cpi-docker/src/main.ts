#!/usr/bin/env node
import { serve } from "@slipway/cpi-sdk/serve";
import { cpiDocker } from "./cpi-docker.ts";

serve(cpiDocker);
