/** Lets a statement fail by what it finds, so that a whole transaction can be sent at once. */
export const refuse = `
create function must(holds boolean, state text, problem text) returns boolean language plpgsql as $$
begin
  if holds is not true then
    raise exception using errcode = state, message = problem;
  end if;
  return true;
end
$$;
`;
