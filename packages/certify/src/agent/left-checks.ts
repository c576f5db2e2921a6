import type { Check, Need } from "./check.ts";

const left =
  (...needs: readonly Need[]) =>
  (number: number, name: string): Check => ({ number, name, needs });

const jobs = left("jobs");
const disks = left("disk-image");

/** In the list, and not made by this program: what each looks at, and what it would need. */
export const LEFT_CHECKS: readonly Check[] = [
  jobs(15, "prepare unpacks jobs and packages and leaves the specification alone"),
  jobs(16, "a full apply links jobs and packages, with upstream's modes and log directories"),
  jobs(17, "an archive with and one without a leading ./ install the same tree"),
  jobs(18, "an apply that leaves out a job or package takes its link and bundle away"),
  jobs(19, "start writes the monitor's files, the last job first, and jobs come to run"),
  jobs(20, "stop waits for the processes from protocol 3 on, and not before it"),
  jobs(21, "a killed process is brought back and told by one alert"),
  jobs(22, "run_script counts the jobs whose script failed and appends to their logs"),
  jobs(23, "run_script hands its environment on, with a fixed PATH"),
  jobs(24, "drain scripts get their arguments and may ask to be called again"),
  jobs(27, "a cancelled errand ends within ten seconds, by its signal"),
  jobs(28, "the exit code of an errand is a result, an unknown errand is an error"),
  jobs(31, "compile_package runs the script in its environment and cleans up after it"),
  jobs(32, "compile_package_with_signed_url uploads with length, headers and both digests"),
  left("vm")(35, "ssh makes and removes its own users and leaves all others alone"),
  disks(41, "a disk that has a file system keeps it, whatever the settings ask for"),
  disks(42, "the file system of an enlarged disk grows with it"),
  left("cli")(54, "create-env makes a VM, enlarges its disk, and delete-env removes it"),
  left("director")(55, "a Director deploys, recreates, resizes, runs errands, and repairs"),
];
