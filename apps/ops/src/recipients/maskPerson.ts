/** Masks all but the end of an NPI, and all but the first character and the domain of an e-mail address. */
export const maskPerson = <Person extends { readonly npi: string; readonly email: string }>(
  person: Person,
): Person => ({
  ...person,
  npi: `******${person.npi.slice(-4)}`,
  email: `${person.email.slice(0, 1)}***${person.email.slice(person.email.lastIndexOf("@"))}`,
})
