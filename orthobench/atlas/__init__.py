"""The atlas: which method to use, answered from the results of many stores."""
