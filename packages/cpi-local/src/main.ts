#!/usr/bin/env node
import { serve } from "@slipway/cpi-sdk/serve";
import { cpiLocal } from "./cpi-local.ts";

serve(cpiLocal);
