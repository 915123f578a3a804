/** Runs `make` when first asked, and answers the same ever after. */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}
