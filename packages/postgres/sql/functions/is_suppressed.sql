-- Reports whether an import must leave a clinician out: suppressed by NPI or e-mail address, or already qualified.
create or replace function is_suppressed(organization text, program text, given_npi text, given_email text)
  returns boolean language sql stable as $$
  select exists (
    select from suppressions
    where organization_id = organization and program_id = program and kind = 'npi' and value = given_npi
  ) or exists (
    select from suppressions
    where organization_id = organization and program_id = program and kind = 'email' and value = lower(given_email)
  ) or exists (
    select from qualifications
    where organization_id = organization and program_id = program and npi = given_npi
      and stage in ('learner_qualified', 'completer_qualified')
  )
$$;
