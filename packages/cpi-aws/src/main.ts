#!/usr/bin/env node
import { serve } from "@slipway/cpi-sdk/serve";
import { cpiAws } from "./cpi-aws.ts";

serve(cpiAws);
