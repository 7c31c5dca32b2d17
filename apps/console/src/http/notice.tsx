import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { LinkLine } from "../components/layout.tsx"
import { renderPlain } from "./renderPage.tsx"

const COOKIE = "notice"
const MAX_CHARACTERS = 500

/** Returns what the last action did, which the browser kept for the page after it. */
export const readNotice = ({ cookies }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const given = cookies[COOKIE]
  return given === undefined ? undefined : Buffer.from(given, "base64url").toString().slice(0, MAX_CHARACTERS)
}

/** Leads to a page that says what was done. The sentence holds nothing personal. */
export const redirectWithNotice = (to: string, notice: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(
    HttpServerResponse.empty({ status: 303, headers: { location: to } }),
    COOKIE,
    Buffer.from(notice.slice(0, MAX_CHARACTERS)).toString("base64url"),
    { path: "/", httpOnly: true, sameSite: "strict", maxAge: "1 minute" },
  )

export const withoutNotice = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, COOKIE, "", { path: "/", httpOnly: true, sameSite: "strict", maxAge: 0 })

/** Reports whether a link on another site leads here. Browsers keep the session's cookie back then. */
export const isFromAnotherSite = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["sec-fetch-site"] === "cross-site"

/** Lets the browser open an address from here, so that it sends the session's cookie. */
export const openAgain = (address: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(
    renderPlain("Opening", <LinkLine to={address}>Open the page</LinkLine>),
    "refresh",
    `0; url=${address}`,
  )
