import { CliError } from "effect/cli"

/** Removes the typed value from a usage error, because it may be an API key, an NPI or an e-mail address. */
export const withoutValue = (error: CliError.NonShowHelpErrors): CliError.NonShowHelpErrors => {
  switch (error._tag) {
    case "InvalidValue": {
      if (error.value === "") return error
      const where = error.kind === "flag" ? `flag --${error.option}` : `argument <${error.option}>`
      // If a switch was given a value, the parser's advice repeats the value.
      const expected = error.expected.replace(`=${error.value}`, "")
      return new CliError.ValidationError({ message: `Invalid value for ${where}. Expected: ${expected}` })
    }
    case "UnexpectedArgument": {
      const count = error.arguments.length
      return new CliError.ValidationError({
        message: `${count} ${count === 1 ? "argument" : "arguments"} more than the command takes`,
      })
    }
    case "UnknownSubcommand": {
      const hint = error.suggestions.length === 0 ? "" : `. Did you mean ${error.suggestions.join(" or ")}?`
      return new CliError.ValidationError({ message: `Unknown command after ${error.parent?.join(" ")}${hint}` })
    }
    default:
      return error
  }
}
