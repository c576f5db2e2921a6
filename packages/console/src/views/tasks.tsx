import { task } from "@slipway/protocol/director/task";
import * as v from "valibot";
import { useLive } from "../api/live.ts";
import { Command } from "../parts/command.tsx";
import { Loaded, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { TASK_COLUMNS } from "./task-row.tsx";

const tasks = v.array(task);

/** The newest tasks. */
export function Tasks() {
  const live = useLive("/tasks?limit=100&verbose=1", tasks);
  return (
    <Panel title="Tasks" note={<Command text="slipway tasks --recent=100" />}>
      <Loaded of={live}>
        {(rows) => (
          <Table
            label="Tasks"
            columns={TASK_COLUMNS}
            rows={rows}
            keyOf={({ id }) => String(id)}
            empty="There was no task yet."
          />
        )}
      </Loaded>
    </Panel>
  );
}
