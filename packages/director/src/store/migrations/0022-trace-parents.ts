/** The trace that the request for a task belongs to: a resumed task goes on with it. */
export const traceParents = `
alter table tasks add column trace_parent text;
`;
