/** Where something stands in the arguments: names and places from the top down, as the server writes them. */
export function under(path: string, name: string | number): string {
  return path ? `${path}.${name}` : String(name);
}
