import type { Given, Option } from "../command.ts";
import type { Asked } from "./cpi-selection.ts";

/** What `up` and `demo` take to choose what VMs are. */
export const cpiOptions: readonly Option[] = [
  { flags: "--cpi <name>", about: "what VMs are: local (sandboxes) or docker; remembered, at first local" },
  {
    flags: "--docker-host <address>",
    about: "docker: the engine; remembered, at first DOCKER_HOST or unix:///var/run/docker.sock",
  },
];

export const askedCpi = (given: Given): Asked => ({
  cpi: given.text("cpi"),
  dockerHost: given.text("docker-host"),
});
