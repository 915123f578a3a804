/** True for 2xx. GOV.UK Pay counts a message with such a response as delivered. `null`: there was no response. */
export const isSuccess = (status: number | null): boolean =>
  status !== null && status >= 200 && status <= 299
