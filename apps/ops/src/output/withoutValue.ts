import { CliError } from "effect/cli"

/** Takes out of a usage error what was typed: it may be a key's text, an NPI or an e-mail address in the wrong place. */
export const withoutValue = (error: CliError.NonShowHelpErrors): CliError.NonShowHelpErrors => {
  switch (error._tag) {
    case "InvalidValue": {
      if (error.value === "") return error
      const where = error.kind === "flag" ? `flag --${error.option}` : `argument <${error.option}>`
      // For a switch with a value the parser's advice repeats the whole of it.
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
