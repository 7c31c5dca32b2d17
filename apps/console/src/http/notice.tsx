import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { LinkLine } from "../components/layout.tsx"
import { renderPlain } from "./renderPage.tsx"

const COOKIE = "notice"
const MAX_CHARACTERS = 500

/** Returns the result of the last action, which the browser kept for the next page. */
export const readNotice = ({ cookies }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const given = cookies[COOKIE]
  return given === undefined ? undefined : Buffer.from(given, "base64url").toString().slice(0, MAX_CHARACTERS)
}

/** Redirects to a page that shows the result. The sentence contains no personal data. */
export const redirectWithNotice = (to: string, notice: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(
    HttpServerResponse.empty({ status: 303, headers: { location: to } }),
    COOKIE,
    Buffer.from(notice.slice(0, MAX_CHARACTERS)).toString("base64url"),
    { path: "/", httpOnly: true, sameSite: "strict", maxAge: "1 minute" },
  )

export const withoutNotice = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, COOKIE, "", { path: "/", httpOnly: true, sameSite: "strict", maxAge: 0 })

/** Reports whether a link on another site led here. Browsers then don't send the session's cookie. */
export const isFromAnotherSite = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["sec-fetch-site"] === "cross-site"

/** Lets the browser open a URL from this page, so that it sends the session's cookie. */
export const openAgain = (address: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(
    renderPlain("Opening", <LinkLine to={address}>Open the page</LinkLine>),
    "refresh",
    `0; url=${address}`,
  )
