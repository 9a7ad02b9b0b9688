"""The langgraph face: LangGraph's Agent Server API, on which a resume is an answer that is settled once, or refused."""
