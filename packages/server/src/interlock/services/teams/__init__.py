"""Teams: groups, who may answer a request, votes, claims, levels, and what people say of requests."""
